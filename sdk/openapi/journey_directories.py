"""The steps of the journey about directories, and about many links at once."""

import openapi_client as signpost
from journey_support import until
from refusal import reason_of


def nest_directories(calls: signpost.DirectoriesApi, name: str) -> str:
    """Makes a directory in another, moves it out and deletes the other; returns its id."""
    campaigns = signpost.CreateDirectoryRequest(name="Campaigns")
    outer_id = calls.directories_service_create(campaigns).directory.id
    inner = signpost.CreateDirectoryRequest(name=name, parentDirectoryId=outer_id)
    id = calls.directories_service_create(inner).directory.id
    found = calls.directories_service_list(search=name).directories
    assert [each.path for each in found] == [f"Campaigns/{name}"], found
    renamed = signpost.UpdateDirectoryRequest(name="Prints")
    calls.directories_service_update(outer_id, update_directory_request=renamed)
    read = calls.directories_service_get(id).directory
    assert read.path == f"Prints/{name}", read
    refused = reason_of(lambda: calls.directories_service_delete(outer_id))
    assert refused == signpost.ErrorReason.DIRECTORY_NOT_EMPTY, refused
    out = signpost.UpdateDirectoryRequest(parentDirectoryIdDelete=True)
    moved = calls.directories_service_update(id, update_directory_request=out).directory
    assert moved.path == name, moved
    calls.directories_service_delete(outer_id)
    return id


def make_many_links(client: signpost.ApiClient, tag: str, directory_id: str) -> None:
    """Makes two links at once in each of three ways, one of them in the directory and with the tag; then deletes all that."""
    calls, jobs, tags = signpost.LinksApi(client), signpost.JobsApi(client), signpost.TagsApi(client)
    many = "https://example.com/many"
    plain = [signpost.CreateLinkRequest(destination=many, name=name) for name in ("One", "Two")]
    tagged = [
        signpost.CreateLinkRequest(destination=many, name=name, directoryId=directory_id, tags=[tag])
        for name in ("One", "Two")
    ]
    batch = calls.links_service_create_batch(plain).links
    bulk = calls.links_service_create_bulk(signpost.CreateBulkLinksRequest(links=tagged)).links
    made = [(each.name, each.directory_id, each.tags[0].name) for each in bulk]
    assert made == [("One", directory_id, tag), ("Two", directory_id, tag)], made
    id = calls.links_service_create_bulk_job(signpost.CreateBulkJobRequest(links=plain)).id

    def result() -> signpost.LinksBulkCreateResult | None:
        job = jobs.jobs_service_get(id)
        assert job.error is None, job
        return job.links_bulk_create

    link_ids = until("the job's links", result).link_ids
    assert len(link_ids) == 2, link_ids

    found = tags.tags_service_list(search=tag).tags
    assert [each.name for each in found] == [tag], found
    tags.tags_service_delete(tag)
    assert calls.links_service_list(tags=[tag]).links == []
    for each in [*(link.id for link in batch + bulk), *link_ids]:
        calls.links_service_delete(each)
    signpost.DirectoriesApi(client).directories_service_delete(directory_id)
