"""The steps of the journey about the looks of pages."""

from google.protobuf.field_mask_pb2 import FieldMask
from signpost import Client, items
from signpost.v1 import page_theme_templates_service_pb2 as templates
from signpost.v1 import page_themes_service_pb2 as themes
from signpost.v1.page_theme_pb2 import FontConfig
from signpost.v1.page_theme_styling_pb2 import PageThemeStyling


def wear_template(client: Client, run: str, link_id: str) -> None:
    """Makes a look, publishes it, gives it to the link, and looks at the link's pages."""
    stub = client.page_theme_templates
    wanted = templates.CreatePageThemeTemplateRequest(
        name="Journey", description="With a badge", tags="menu", styling=PageThemeStyling(badge_enabled=True)
    )
    id = stub.CreatePageThemeTemplate(wanted).page_theme_template.id
    changed = stub.UpdatePageThemeTemplate(
        templates.UpdatePageThemeTemplateRequest(
            id=id, name="Renamed", slug=run, tags="ignored", update_mask=FieldMask(paths=["name", "slug"])
        )
    ).page_theme_template
    assert (changed.name, changed.tags) == ("Renamed", "menu"), changed
    stub.UpdatePageThemeTemplateStyling(
        templates.UpdatePageThemeTemplateStylingRequest(id=id, body_font=FontConfig(font_size=20))
    )
    asked = templates.GetPageThemeTemplateRequest(id=id, include=["pageTheme"])
    look = stub.GetPageThemeTemplate(asked).page_theme_template.page_theme
    assert look.badge_enabled and look.body_font.font_size == 20, look
    own = templates.ListPageThemeTemplatesRequest(scope=templates.PAGE_THEME_TEMPLATE_SCOPE_WORKSPACE)
    listed = items(stub.ListPageThemeTemplates, own, lambda page: page.page_theme_templates)
    assert id in [each.id for each in listed]
    published = stub.PublishPageThemeTemplate(templates.PublishPageThemeTemplateRequest(id=id)).page_theme_template
    assert published.HasField("published_at"), published
    public = templates.PublicListPageThemeTemplatesRequest()
    shown = next(iter(items(stub.PublicListPageThemeTemplates, public, lambda page: page.page_theme_templates)))
    by_slug = stub.PublicGetPageThemeTemplate(templates.PublicGetPageThemeTemplateRequest(slug=shown.slug))
    assert by_slug.page_theme_template.name == shown.name, by_slug
    images = templates.ResolvePageThemeTemplateImagesRequest(template_ids=[id])
    assert id in stub.ResolvePageThemeTemplateImages(images).images
    copied = stub.ImportPageThemeTemplate(templates.ImportPageThemeTemplateRequest(slug=shown.slug))
    stub.DeletePageThemeTemplate(templates.DeletePageThemeTemplateRequest(id=copied.page_theme_template.id))
    wear(client, link_id, id)
    stub.DeletePageThemeTemplate(templates.DeletePageThemeTemplateRequest(id=id))


def wear(client: Client, link_id: str, template_id: str) -> None:
    stub = client.page_themes
    wanted = themes.ApplyPageThemeTemplateRequest(link_id=link_id, page_theme_template_id=template_id)
    id = stub.ApplyTemplate(wanted).page_theme.id
    assert stub.GetPageTheme(themes.GetPageThemeRequest(id=id)).page_theme.body_font.font_size == 20
    listed = items(stub.ListPageThemes, themes.ListPageThemesRequest(), lambda page: page.page_themes)
    assert [each.id for each in listed] == [id]
    asked = themes.FindMatchingPageThemeTemplateRequest(link_id=link_id)
    matching = stub.FindMatchingTemplate(asked)
    assert matching.matched and matching.page_theme_template.id == template_id, matching
    page = stub.PreviewPageTheme(themes.PreviewPageThemeRequest(id=id, step="thank-you")).page
    assert b"Thank you!" in page.data, page
    change = themes.UpdatePageThemeRequest(id=id, body_font=FontConfig(font_size=18))
    assert stub.UpdatePageTheme(change).page_theme.body_font.font_size == 18
    assert not stub.FindMatchingTemplate(asked).matched
