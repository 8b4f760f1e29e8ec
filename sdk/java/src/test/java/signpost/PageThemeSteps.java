package signpost;

import static signpost.JourneySupport.all;
import static signpost.JourneySupport.check;
import static signpost.JourneySupport.mask;

import java.util.List;
import signpost.v1.*;

/** The steps of {@link Journey} about the looks of pages. */
final class PageThemeSteps {
  private final Client client;
  private final String run;

  PageThemeSteps(Client client, String run) {
    this.client = client;
    this.run = run;
  }

  /** Makes a look, publishes it, gives it to the link, and looks at the link's pages. */
  void wearTemplate(String linkId) {
    var calls = client.pageThemeTemplates();
    String id = makeTemplate();
    ListPageThemeTemplatesRequest own =
        ListPageThemeTemplatesRequest.newBuilder()
            .setScope(PageThemeTemplateScope.PAGE_THEME_TEMPLATE_SCOPE_WORKSPACE)
            .build();
    List<PageThemeTemplate> listed =
        all(
            calls::listPageThemeTemplates,
            own,
            ListPageThemeTemplatesResponse::getPageThemeTemplatesList);
    check(listed.stream().anyMatch(each -> each.getId().equals(id)), listed);
    PublishPageThemeTemplateRequest publication =
        PublishPageThemeTemplateRequest.newBuilder().setId(id).build();
    PageThemeTemplate published =
        calls.publishPageThemeTemplate(publication).getPageThemeTemplate();
    check(published.hasPublishedAt(), published);
    ResolvePageThemeTemplateImagesRequest images =
        ResolvePageThemeTemplateImagesRequest.newBuilder().addTemplateIds(id).build();
    check(calls.resolvePageThemeTemplateImages(images).containsImages(id), id);
    copyPublished();
    wear(linkId, id);
    calls.deletePageThemeTemplate(deletionOf(id));
  }

  private String makeTemplate() {
    var calls = client.pageThemeTemplates();
    CreatePageThemeTemplateRequest.Builder wanted =
        CreatePageThemeTemplateRequest.newBuilder()
            .setName("Journey")
            .setDescription("With a badge")
            .setTags("menu")
            .setStyling(PageThemeStyling.newBuilder().setBadgeEnabled(true));
    String id = calls.createPageThemeTemplate(wanted.build()).getPageThemeTemplate().getId();
    UpdatePageThemeTemplateRequest.Builder change =
        UpdatePageThemeTemplateRequest.newBuilder()
            .setId(id)
            .setName("Renamed")
            .setSlug(run)
            .setTags("ignored")
            .setUpdateMask(mask("name", "slug"));
    PageThemeTemplate changed = calls.updatePageThemeTemplate(change.build()).getPageThemeTemplate();
    check(changed.getName().equals("Renamed") && changed.getTags().equals("menu"), changed);
    UpdatePageThemeTemplateStylingRequest.Builder larger =
        UpdatePageThemeTemplateStylingRequest.newBuilder().setId(id).setBodyFont(fontOf(20));
    calls.updatePageThemeTemplateStyling(larger.build());
    GetPageThemeTemplateRequest.Builder asked =
        GetPageThemeTemplateRequest.newBuilder().setId(id).addInclude("pageTheme");
    PageTheme look = calls.getPageThemeTemplate(asked.build()).getPageThemeTemplate().getPageTheme();
    check(look.getBadgeEnabled() && look.getBodyFont().getFontSize() == 20, look);
    return id;
  }

  private void copyPublished() {
    var calls = client.pageThemeTemplates();
    PublicPageThemeTemplate shown =
        calls
            .publicListPageThemeTemplates(PublicListPageThemeTemplatesRequest.getDefaultInstance())
            .getPageThemeTemplates(0);
    PublicGetPageThemeTemplateRequest.Builder bySlug =
        PublicGetPageThemeTemplateRequest.newBuilder().setSlug(shown.getSlug());
    PublicPageThemeTemplate read =
        calls.publicGetPageThemeTemplate(bySlug.build()).getPageThemeTemplate();
    check(read.getName().equals(shown.getName()), read);
    ImportPageThemeTemplateRequest.Builder source =
        ImportPageThemeTemplateRequest.newBuilder().setSlug(shown.getSlug());
    PageThemeTemplate copied = calls.importPageThemeTemplate(source.build()).getPageThemeTemplate();
    calls.deletePageThemeTemplate(deletionOf(copied.getId()));
  }

  private void wear(String linkId, String templateId) {
    var calls = client.pageThemes();
    ApplyPageThemeTemplateRequest.Builder template =
        ApplyPageThemeTemplateRequest.newBuilder()
            .setLinkId(linkId)
            .setPageThemeTemplateId(templateId);
    String id = calls.applyTemplate(template.build()).getPageTheme().getId();
    PageTheme read =
        calls.getPageTheme(GetPageThemeRequest.newBuilder().setId(id).build()).getPageTheme();
    check(read.getBodyFont().getFontSize() == 20, read);
    List<PageTheme> listed =
        calls.listPageThemes(ListPageThemesRequest.getDefaultInstance()).getPageThemesList();
    check(listed.size() == 1 && listed.get(0).getId().equals(id), listed);
    FindMatchingPageThemeTemplateRequest ofLink =
        FindMatchingPageThemeTemplateRequest.newBuilder().setLinkId(linkId).build();
    FindMatchingPageThemeTemplateResponse matching = calls.findMatchingTemplate(ofLink);
    check(matching.getPageThemeTemplate().getId().equals(templateId), matching);
    PreviewPageThemeRequest.Builder preview =
        PreviewPageThemeRequest.newBuilder().setId(id).setStep("thank-you");
    String page = calls.previewPageTheme(preview.build()).getPage().getData().toStringUtf8();
    check(page.contains("Thank you!"), page);
    UpdatePageThemeRequest.Builder smaller =
        UpdatePageThemeRequest.newBuilder().setId(id).setBodyFont(fontOf(18));
    PageTheme changed = calls.updatePageTheme(smaller.build()).getPageTheme();
    check(changed.getBodyFont().getFontSize() == 18, changed);
    check(!calls.findMatchingTemplate(ofLink).getMatched(), changed);
  }

  private static FontConfig fontOf(int size) {
    return FontConfig.newBuilder().setFontSize(size).build();
  }

  private static DeletePageThemeTemplateRequest deletionOf(String templateId) {
    return DeletePageThemeTemplateRequest.newBuilder().setId(templateId).build();
  }
}
