package signpost;

import static signpost.JourneySupport.all;
import static signpost.JourneySupport.check;
import static signpost.JourneySupport.reasonOf;
import static signpost.JourneySupport.until;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import signpost.v1.*;

/** The steps of {@link Journey} about directories, and about many links at once. */
final class DirectorySteps {
  private final Client client;
  private final String run;

  DirectorySteps(Client client, String run) {
    this.client = client;
    this.run = run;
  }

  /** Makes a directory in another, moves it out and deletes the other; returns its id. */
  String nest() {
    var calls = client.directories();
    CreateDirectoryRequest.Builder outer = CreateDirectoryRequest.newBuilder().setName("Campaigns");
    String outerId = calls.create(outer.build()).getDirectory().getId();
    CreateDirectoryRequest.Builder inner =
        CreateDirectoryRequest.newBuilder().setName(run).setParentDirectoryId(outerId);
    String id = calls.create(inner.build()).getDirectory().getId();
    ListDirectoriesRequest search = ListDirectoriesRequest.newBuilder().setSearch(run).build();
    List<String> paths =
        all(calls::list, search, ListDirectoriesResponse::getDirectoriesList).stream()
            .map(Directory::getPath)
            .toList();
    check(paths.equals(List.of("Campaigns/" + run)), paths);
    calls.update(UpdateDirectoryRequest.newBuilder().setId(outerId).setName("Prints").build());
    Directory read = calls.get(GetDirectoryRequest.newBuilder().setId(id).build()).getDirectory();
    check(read.getPath().equals("Prints/" + run), read);
    String reason = reasonOf(() -> calls.delete(deletionOf(outerId)));
    check(reason.equals("DIRECTORY_NOT_EMPTY"), reason);
    UpdateDirectoryRequest.Builder out =
        UpdateDirectoryRequest.newBuilder().setId(id).setParentDirectoryIdDelete(true);
    Directory moved = calls.update(out.build()).getDirectory();
    check(moved.getPath().equals(run), moved);
    calls.delete(deletionOf(outerId));
    return id;
  }

  /**
   * Makes two links at once in each of three ways, one of them in the directory and with a tag; then deletes all
   * that.
   */
  void makeManyLinks(String directoryId) {
    var calls = client.links();
    List<CreateLinkRequest> plain = two(CreateLinkRequest.getDefaultInstance());
    List<CreateLinkRequest> tagged =
        two(CreateLinkRequest.newBuilder().setDirectoryId(directoryId).addTags(run).build());
    CreateBatchLinksRequest.Builder batch = CreateBatchLinksRequest.newBuilder().addAllLinks(plain);
    List<Link> batched = calls.createBatch(batch.build()).getLinksList();
    CreateBulkLinksRequest.Builder bulk = CreateBulkLinksRequest.newBuilder().addAllLinks(tagged);
    List<Link> filed = calls.createBulk(bulk.build()).getLinksList();
    check(filed.stream().map(Link::getName).toList().equals(List.of("One", "Two")), filed);
    check(filed.stream().allMatch(each -> each.getDirectoryId().equals(directoryId)), filed);
    check(filed.stream().allMatch(each -> each.getTags(0).getName().equals(run)), filed);
    List<String> ids = new ArrayList<>(idsByJob(plain));
    check(ids.size() == plain.size(), ids);

    deleteTag();
    Stream.of(batched, filed).flatMap(List::stream).map(Link::getId).forEach(ids::add);
    for (String id : ids) {
      calls.delete(DeleteLinkRequest.newBuilder().setId(id).build());
    }
    client.directories().delete(deletionOf(directoryId));
  }

  private static List<CreateLinkRequest> two(CreateLinkRequest common) {
    return Stream.of("One", "Two")
        .map(name -> common.toBuilder().setDestination("https://example.com/many").setName(name).build())
        .toList();
  }

  private List<String> idsByJob(List<CreateLinkRequest> wanted) {
    CreateBulkJobRequest.Builder many = CreateBulkJobRequest.newBuilder().addAllLinks(wanted);
    String id = client.links().createBulkJob(many.build()).getJob().getId();
    GetJobRequest asked = GetJobRequest.newBuilder().setId(id).build();
    until(
        "the job's links",
        () -> {
          Job job = client.jobs().get(asked).getJob();
          check(!job.hasError(), job);
          return job.hasLinksBulkCreate();
        });
    return client.jobs().get(asked).getJob().getLinksBulkCreate().getLinkIdsList();
  }

  private void deleteTag() {
    var calls = client.tags();
    ListTagsRequest search = ListTagsRequest.newBuilder().setSearch(run).build();
    List<String> names =
        all(calls::list, search, ListTagsResponse::getTagsList).stream().map(Tag::getName).toList();
    check(names.equals(List.of(run)), names);
    calls.delete(DeleteTagRequest.newBuilder().setName(run).build());
    ListLinksRequest tagged = ListLinksRequest.newBuilder().addTags(run).build();
    check(client.links().list(tagged).getLinksCount() == 0, tagged);
  }

  private static DeleteDirectoryRequest deletionOf(String directoryId) {
    return DeleteDirectoryRequest.newBuilder().setId(directoryId).build();
  }
}
