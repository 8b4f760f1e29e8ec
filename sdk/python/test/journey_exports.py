"""The steps of the journey about visits in files."""

import urllib.request

from journey_support import until
from signpost import Client
from signpost.v1 import exports_service_pb2 as exports
from signpost.v1.export_pb2 import EXPORT_FORMAT_CSV, Export
from signpost.v1.link_pb2 import Link


def take_away(client: Client, link: Link) -> None:
    """Takes the one visit of a link away as a file, and deletes the file."""
    stub = client.exports
    wanted = exports.CreateExportRequest(format=EXPORT_FORMAT_CSV, link_id=link.id)
    id = stub.Create(wanted).export.id

    def finished() -> Export | None:
        made = stub.Get(exports.GetExportRequest(id=id)).export
        return made if made.HasField("completed_at") else None

    done = until("the export", finished)
    assert done.row_count == 1, done
    with urllib.request.urlopen(done.download_url) as file:
        assert len(file.read()) == done.size, done
    listed = stub.List(exports.ListExportsRequest()).exports
    assert id in [each.id for each in listed], listed
    stub.Delete(exports.DeleteExportRequest(id=id))
