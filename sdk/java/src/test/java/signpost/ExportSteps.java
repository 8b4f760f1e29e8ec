package signpost;

import static signpost.JourneySupport.check;
import static signpost.JourneySupport.until;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.util.List;
import signpost.v1.*;

/** The steps of {@link Journey} about visits in files. */
final class ExportSteps {
  private final Client client;

  ExportSteps(Client client) {
    this.client = client;
  }

  /** Takes the one visit of a link away as a file, and deletes the file. */
  void takeAway(String linkId) {
    var calls = client.exports();
    CreateExportRequest.Builder wanted =
        CreateExportRequest.newBuilder().setFormat(ExportFormat.EXPORT_FORMAT_CSV).setLinkId(linkId);
    String id = calls.create(wanted.build()).getExport().getId();
    GetExportRequest asked = GetExportRequest.newBuilder().setId(id).build();
    until("the export", () -> calls.get(asked).getExport().hasCompletedAt());
    Export done = calls.get(asked).getExport();
    check(done.getRowCount() == 1, done);
    try (InputStream file = URI.create(done.getDownloadUrl()).toURL().openStream()) {
      check(file.readAllBytes().length == done.getSize(), done);
    } catch (IOException failure) {
      throw new AssertionError(done.toString(), failure);
    }
    List<Export> listed = calls.list(ListExportsRequest.getDefaultInstance()).getExportsList();
    check(listed.stream().anyMatch(each -> each.getId().equals(id)), listed);
    calls.delete(DeleteExportRequest.newBuilder().setId(id).build());
  }
}
