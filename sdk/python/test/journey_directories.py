"""The steps of the journey about directories, and about many links at once."""

from journey_support import until
from signpost import Client, items
from signpost.v1 import directories_service_pb2 as directories
from signpost.v1 import jobs_service_pb2 as jobs
from signpost.v1 import links_service_pb2 as links
from signpost.v1 import tags_service_pb2 as tags
from signpost.v1.job_pb2 import LinksBulkCreateResult
from smoke import failure


def nest_directories(client: Client, name: str) -> str:
    """Makes a directory in another, moves it out and deletes the other; returns its id."""
    stub = client.directories
    outer_id = stub.Create(directories.CreateDirectoryRequest(name="Campaigns")).directory.id
    inner = directories.CreateDirectoryRequest(name=name, parent_directory_id=outer_id)
    id = stub.Create(inner).directory.id
    found = items(stub.List, directories.ListDirectoriesRequest(search=name), lambda page: page.directories)
    assert [each.path for each in found] == [f"Campaigns/{name}"]
    stub.Update(directories.UpdateDirectoryRequest(id=outer_id, name="Prints"))
    read = stub.Get(directories.GetDirectoryRequest(id=id)).directory
    assert read.path == f"Prints/{name}", read
    refused = failure(lambda: stub.Delete(directories.DeleteDirectoryRequest(id=outer_id)))
    assert refused.reason == "DIRECTORY_NOT_EMPTY", refused
    moved = stub.Update(directories.UpdateDirectoryRequest(id=id, parent_directory_id_delete=True)).directory
    assert moved.path == name, moved
    stub.Delete(directories.DeleteDirectoryRequest(id=outer_id))
    return id


def make_many_links(client: Client, tag: str, directory_id: str) -> None:
    """Makes two links at once in each of three ways, one of them in the directory and with the tag; then deletes all that."""
    stub = client.links

    many = "https://example.com/many"
    plain = [links.CreateLinkRequest(destination=many, name=name) for name in ("One", "Two")]
    tagged = [
        links.CreateLinkRequest(destination=many, name=name, directory_id=directory_id, tags=[tag])
        for name in ("One", "Two")
    ]
    batch = stub.CreateBatch(links.CreateBatchLinksRequest(links=plain)).links
    bulk = stub.CreateBulk(links.CreateBulkLinksRequest(links=tagged)).links
    made = [(each.name, each.directory_id, each.tags[0].name) for each in bulk]
    assert made == [("One", directory_id, tag), ("Two", directory_id, tag)], made
    id = stub.CreateBulkJob(links.CreateBulkJobRequest(links=plain)).job.id

    def result() -> LinksBulkCreateResult | None:
        job = client.jobs.Get(jobs.GetJobRequest(id=id)).job
        assert not job.HasField("error"), job
        return job.links_bulk_create if job.HasField("links_bulk_create") else None

    link_ids = until("the job's links", result).link_ids
    assert len(link_ids) == 2, link_ids

    found = items(client.tags.List, tags.ListTagsRequest(search=tag), lambda page: page.tags)
    assert [each.name for each in found] == [tag]
    client.tags.Delete(tags.DeleteTagRequest(name=tag))
    assert not stub.List(links.ListLinksRequest(tags=[tag])).links
    for each in [*(link.id for link in [*batch, *bulk]), *link_ids]:
        stub.Delete(links.DeleteLinkRequest(id=each))
    client.directories.Delete(directories.DeleteDirectoryRequest(id=directory_id))
