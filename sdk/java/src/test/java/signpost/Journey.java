package signpost;

import static signpost.JourneySupport.PICTURE;
import static signpost.JourneySupport.all;
import static signpost.JourneySupport.check;
import static signpost.JourneySupport.in;
import static signpost.JourneySupport.mask;
import static signpost.JourneySupport.reasonOf;
import static signpost.JourneySupport.until;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import signpost.options.v1.ApiScope;
import signpost.v1.*;

/**
 * Walks through every group of the service at SIGNPOST_URL, with SIGNPOST_TOKEN, by the steps of sdk/JOURNEY.md. Ends with an
 * error when an answer is not as it should be.
 */
final class Journey {
  private static final DotsOptions ROUNDED =
      DotsOptions.newBuilder().setType(DotsType.DOTS_TYPE_ROUNDED).build();

  private final Client client;
  private final String run = "journey-" + UUID.randomUUID();

  private Journey(Client client) {
    this.client = client;
  }

  public static void main(String[] args) {
    try (Client client = new Client(System.getenv("SIGNPOST_URL"), System.getenv("SIGNPOST_TOKEN"))) {
      new Journey(client).walk();
    }
    System.out.println("java: walked the journey");
  }

  private void walk() {
    List<ApiScopeInfo> scopes =
        client.apiScopes().list(ListApiScopesRequest.getDefaultInstance()).getScopesList();
    check(scopes.stream().anyMatch(each -> each.getScope() == ApiScope.API_SCOPE_LINKS_READ), scopes);
    WorkspaceSteps workspace = new WorkspaceSteps(client, run);
    workspace.open();
    String templateId = makeTemplate();
    keepMedia();
    Link link = makeLink(templateId);
    restyle(link);
    new PageThemeSteps(client, run).wearTemplate(link.getId());
    VisitSteps visits = new VisitSteps(client, run);
    String lbid = visits.visit(link);
    new AnalyticsSteps(client).analyse(link);
    new DashboardSteps(client).present(link.getId());
    new ExportSteps(client).takeAway(link.getId());
    new WebhookSteps(client).subscribe();
    new DomainSteps(client, run).bring();
    new SlackSteps(client).askForSlack();
    new AssistantSteps(client).ask(link.getId());
    new GoogleFormsSteps(client).askForForms();
    visits.expire();
    visits.tellVisitors(lbid);
    WorkflowAndTokenSteps others = new WorkflowAndTokenSteps(client);
    others.wire(link.getId());
    others.delegate();
    DirectorySteps directories = new DirectorySteps(client, run);
    String directoryId = directories.nest();
    directories.makeManyLinks(directoryId);
    PeopleSteps people = new PeopleSteps(client, run);
    people.signIn();
    people.invite();
    AgentSteps.claimAsPerson(client, run);
    new SandboxSteps(client).play();
    client.links().delete(DeleteLinkRequest.newBuilder().setId(link.getId()).build());
    client.qrcodeTemplates().deleteQrcodeTemplate(deletionOf(templateId));
    workspace.close();
  }

  private String makeTemplate() {
    var calls = client.qrcodeTemplates();
    PublicCreateQrcodeDesignRequest rounded =
        PublicCreateQrcodeDesignRequest.newBuilder().setDotsOptions(ROUNDED).build();
    String designId = client.qrcodeDesign().publicCreate(rounded).getQrcodeDesign().getId();
    CreateQrcodeTemplateRequest.Builder wanted =
        CreateQrcodeTemplateRequest.newBuilder()
            .setName("Journey")
            .setDescription("Round dots")
            .setTags("menu")
            .setQrcodeDesignId(designId);
    String id = calls.createQrcodeTemplate(wanted.build()).getQrcodeTemplate().getId();
    GetQrcodeTemplateRequest.Builder asked =
        GetQrcodeTemplateRequest.newBuilder().setId(id).addInclude("qrcodeDesign");
    QrcodeTemplate read = calls.getQrcodeTemplate(asked.build()).getQrcodeTemplate();
    check(read.getQrcodeDesign().getDotsOptions().equals(ROUNDED), read);
    UpdateQrcodeTemplateRequest.Builder change =
        UpdateQrcodeTemplateRequest.newBuilder()
            .setId(id)
            .setName("Renamed")
            .setSlug(run)
            .setTags("ignored")
            .setUpdateMask(mask("name", "slug"));
    QrcodeTemplate changed = calls.updateQrcodeTemplate(change.build()).getQrcodeTemplate();
    check(changed.getName().equals("Renamed") && changed.getTags().equals("menu"), changed);
    ListQrcodeTemplatesRequest own =
        ListQrcodeTemplatesRequest.newBuilder()
            .setScope(QrcodeTemplateScope.QRCODE_TEMPLATE_SCOPE_WORKSPACE)
            .build();
    List<QrcodeTemplate> listed =
        all(calls::listQrcodeTemplates, own, ListQrcodeTemplatesResponse::getQrcodeTemplatesList);
    check(listed.stream().anyMatch(each -> each.getId().equals(id)), listed);
    PublishQrcodeTemplateRequest publication = PublishQrcodeTemplateRequest.newBuilder().setId(id).build();
    QrcodeTemplate published = calls.publishQrcodeTemplate(publication).getQrcodeTemplate();
    check(published.hasPublishedAt(), published);
    until("a thumbnail", () -> thumbnailOf(id));
    copyPublished();
    return id;
  }

  private boolean thumbnailOf(String templateId) {
    ResolveQrcodeTemplateImagesRequest images =
        ResolveQrcodeTemplateImagesRequest.newBuilder().addTemplateIds(templateId).build();
    return client
        .qrcodeTemplates()
        .resolveQrcodeTemplateImages(images)
        .containsThumbnailSignedUrls(templateId);
  }

  private void copyPublished() {
    var calls = client.qrcodeTemplates();
    PublicQrcodeTemplate shown =
        calls
            .publicListQrcodeTemplates(PublicListQrcodeTemplatesRequest.getDefaultInstance())
            .getQrcodeTemplates(0);
    PublicGetQrcodeTemplateRequest.Builder bySlug =
        PublicGetQrcodeTemplateRequest.newBuilder().setSlug(shown.getSlug());
    PublicQrcodeTemplate read = calls.publicGetQrcodeTemplate(bySlug.build()).getQrcodeTemplate();
    check(read.getName().equals(shown.getName()), read);
    ImportQrcodeTemplateRequest.Builder source =
        ImportQrcodeTemplateRequest.newBuilder().setSlug(shown.getSlug());
    QrcodeTemplate copied = calls.importQrcodeTemplate(source.build()).getQrcodeTemplate();
    calls.deleteQrcodeTemplate(deletionOf(copied.getId()));
  }

  private static DeleteQrcodeTemplateRequest deletionOf(String templateId) {
    return DeleteQrcodeTemplateRequest.newBuilder().setId(templateId).build();
  }

  private void keepMedia() {
    var calls = client.media();
    CreateMediaRequest.Builder upload =
        CreateMediaRequest.newBuilder()
            .setFileData(ByteString.copyFrom(PICTURE))
            .setMediaType(Media.Type.TYPE_BADGE)
            .setFileName("badge.png");
    String id = calls.create(upload.build()).getMedia().getId();
    Media read = calls.get(GetMediaRequest.newBuilder().setId(id).build()).getMedia();
    check(read.getMimeType().equals("image/png"), read);
    List<Media> listed =
        all(calls::list, ListMediaRequest.getDefaultInstance(), ListMediaResponse::getMediaList);
    check(listed.stream().anyMatch(each -> each.getId().equals(id)), listed);
    calls.delete(DeleteMediaRequest.newBuilder().setId(id).build());
  }

  private Link makeLink(String templateId) {
    var calls = client.links();
    String shortlink = calls.shortlinkRandom(ShortlinkRandomRequest.getDefaultInstance()).getShortlink();
    ShortlinkAvailabilityRequest.Builder asked =
        ShortlinkAvailabilityRequest.newBuilder().setShortlink(shortlink);
    check(calls.shortlinkAvailability(asked.build()).getAvailable(), shortlink);
    CreateLinkRequest.Builder wanted =
        CreateLinkRequest.newBuilder()
            .setDestination("https://example.com/menu")
            .setShortlink(shortlink)
            .setQrcodeTemplateId(templateId)
            .setName("Menu")
            .setPurpose("sales leads")
            .addTags(run)
            .putMetadata("table", "7")
            .setConversionTracking(true)
            .setExpiresAt(in(Duration.ofDays(1)))
            .setWaitForQrcode(true);
    String id = calls.create(wanted.build()).getLink().getId();
    GetLinkRequest.Builder whole =
        GetLinkRequest.newBuilder().setId(id).addInclude("tags").addInclude("qrcodeDesign");
    Link read = calls.get(whole.build()).getLink();
    check(read.getMetadataOrThrow("table").equals("7") && read.getTags(0).getName().equals(run), read);
    check(read.getQrcodeDesign().getDotsOptions().equals(ROUNDED), read);
    UpdateLinkRequest.Builder change =
        UpdateLinkRequest.newBuilder()
            .setId(id)
            .setName("Lunch")
            .addTags(run)
            .addTags("lunch")
            .setExpiresAtDelete(true);
    Link link = calls.update(change.build()).getLink();
    check(link.getName().equals("Lunch") && !link.hasExpiresAt(), link);
    otherLinks(link);
    return link;
  }

  private void otherLinks(Link link) {
    var calls = client.links();
    VCardPayload.Builder card =
        VCardPayload.newBuilder().setFirstName("Ada").setLastName("Lovelace").setPhone("+15551234567");
    CreateContactLinkRequest.Builder ada =
        CreateContactLinkRequest.newBuilder().setVcardData(card).setName("Ada").addTags(run);
    String contactId = calls.createContactLink(ada.build()).getLink().getId();
    CreateThankYouLinkRequest.Builder page =
        CreateThankYouLinkRequest.newBuilder().setTitle("Thank you").setName("Thanks").addTags(run);
    String thanksId = calls.createThankYouLink(page.build()).getLink().getId();
    ListLinksRequest tagged = ListLinksRequest.newBuilder().addTags(run).setPageSize(2).build();
    List<String> names =
        all(calls::list, tagged, ListLinksResponse::getLinksList).stream().map(Link::getName).toList();
    check(names.equals(List.of("Thanks", "Ada", "Lunch")), names);
    ResolveQrcodeImagesRequest images =
        ResolveQrcodeImagesRequest.newBuilder()
            .addAllLinkIds(List.of(link.getId(), contactId, thanksId))
            .build();
    until("every image", () -> calls.resolveQrcodeImages(images).getQrcodeSignedUrlsCount() == 3);
    for (String id : List.of(contactId, thanksId)) {
      calls.delete(DeleteLinkRequest.newBuilder().setId(id).build());
    }
    GetLinkRequest gone = GetLinkRequest.newBuilder().setId(thanksId).build();
    check(reasonOf(() -> calls.get(gone)).equals("NOT_FOUND"), gone);
  }

  private void restyle(Link link) {
    var calls = client.qrcodeDesign();
    String id = link.getQrcodeDesignId();
    QrcodeDesign before = calls.get(GetQrcodeDesignRequest.newBuilder().setId(id).build()).getQrcodeDesign();
    DotsOptions dots = DotsOptions.newBuilder().setType(DotsType.DOTS_TYPE_DOTS).build();
    UpdateQrcodeDesignRequest.Builder change =
        UpdateQrcodeDesignRequest.newBuilder()
            .setId(id)
            .setDotsOptions(dots)
            .setUpdateMask(mask("dots_options.type"));
    QrcodeDesign changed = calls.update(change.build()).getQrcodeDesign();
    DotsOptions expected = before.getDotsOptions().toBuilder().setType(dots.getType()).build();
    check(changed.getDotsOptions().equals(expected), changed);
    VerifyQrcodeDesignRequest tried = VerifyQrcodeDesignRequest.newBuilder().setId(id).build();
    check(calls.verify(tried).getScannability().getReadable(), changed);
    ApplyQrcodeTemplateRequest.Builder template =
        ApplyQrcodeTemplateRequest.newBuilder()
            .setLinkId(link.getId())
            .setQrcodeTemplateId(link.getQrcodeTemplateId());
    QrcodeDesign applied = calls.applyTemplate(template.build()).getQrcodeDesign();
    check(applied.getDotsOptions().equals(ROUNDED), applied);
    QrcodeDesign unused =
        calls.publicCreate(PublicCreateQrcodeDesignRequest.getDefaultInstance()).getQrcodeDesign();
    calls.delete(DeleteQrcodeDesignRequest.newBuilder().setId(unused.getId()).build());
  }
}
