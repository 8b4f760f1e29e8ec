"""The steps of the journey about visits in files."""

import urllib.request

import openapi_client as signpost
from journey_support import until


def take_away(calls: signpost.ExportsApi, link_id: str) -> None:
    """Takes the one visit of a link away as a file, and deletes the file."""
    wanted = signpost.CreateExportRequest(format=signpost.ExportFormat.EXPORT_FORMAT_CSV, linkId=link_id)
    id = calls.exports_service_create(wanted).id

    def finished() -> signpost.Export | None:
        made = calls.exports_service_get(id)
        return made if made.completed_at is not None else None

    done = until("the export", finished)
    assert done.row_count == "1", done
    with urllib.request.urlopen(done.download_url) as file:
        assert str(len(file.read())) == done.size, done
    listed = calls.exports_service_list().exports
    assert id in [each.id for each in listed], listed
    calls.exports_service_delete(id)
