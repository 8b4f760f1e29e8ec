"""The steps of the journey about the looks of pages."""

import openapi_client as signpost


def wear_template(client: signpost.ApiClient, run: str, link_id: str) -> None:
    """Makes a look, publishes it, gives it to the link, and looks at the link's pages."""
    calls = signpost.PageThemeTemplatesApi(client)
    wanted = signpost.CreatePageThemeTemplateRequest(
        name="Journey",
        description="With a badge",
        tags="menu",
        styling=signpost.PageThemeStyling(badgeEnabled=True),
    )
    made = calls.page_theme_templates_service_create_page_theme_template(create_page_theme_template_request=wanted)
    id = made.page_theme_template.id
    change = signpost.UpdatePageThemeTemplateRequest(name="Renamed", slug=run)
    changed = calls.page_theme_templates_service_update_page_theme_template(
        id, update_page_theme_template_request=change
    ).page_theme_template
    assert (changed.name, changed.tags) == ("Renamed", "menu"), changed
    larger = signpost.UpdatePageThemeTemplateStylingRequest(bodyFont=signpost.FontConfig(fontSize=20))
    calls.page_theme_templates_service_update_page_theme_template_styling(
        id, update_page_theme_template_styling_request=larger
    )
    look = calls.page_theme_templates_service_get_page_theme_template(id, include=["pageTheme"]).page_theme
    assert look.badge_enabled and look.body_font.font_size == 20, look
    listed = calls.page_theme_templates_service_list_page_theme_templates().page_theme_templates
    assert id in [each.id for each in listed]
    published = calls.page_theme_templates_service_publish_page_theme_template(id).page_theme_template
    assert published.published_at is not None, published
    shown = calls.page_theme_templates_service_public_list_page_theme_templates().page_theme_templates[0]
    assert calls.page_theme_templates_service_public_get_page_theme_template(shown.slug).name == shown.name
    images = signpost.ResolvePageThemeTemplateImagesRequest(templateIds=[id])
    assert id in calls.page_theme_templates_service_resolve_page_theme_template_images(images).images
    source = signpost.ImportPageThemeTemplateRequest(slug=shown.slug)
    copied = calls.page_theme_templates_service_import_page_theme_template(source).page_theme_template
    calls.page_theme_templates_service_delete_page_theme_template(copied.id)
    wear(signpost.PageThemesApi(client), link_id, id)
    calls.page_theme_templates_service_delete_page_theme_template(id)


def wear(calls: signpost.PageThemesApi, link_id: str, template_id: str) -> None:
    wanted = signpost.ApplyPageThemeTemplateRequest(linkId=link_id, pageThemeTemplateId=template_id)
    id = calls.page_themes_service_apply_template(wanted).page_theme.id
    assert calls.page_themes_service_get_page_theme(id).page_theme.body_font.font_size == 20
    assert [each.id for each in calls.page_themes_service_list_page_themes().page_themes] == [id]
    matching = calls.page_themes_service_find_matching_template(link_id)
    assert matching.matched and matching.page_theme_template.id == template_id, matching
    page = calls.page_themes_service_preview_page_theme_with_http_info(id, step="thank-you")
    assert page.headers["content-type"] == "text/html; charset=utf-8", page
    change = signpost.UpdatePageThemeRequest(bodyFont=signpost.FontConfig(fontSize=18))
    changed = calls.page_themes_service_update_page_theme(id, update_page_theme_request=change).page_theme
    assert changed.body_font.font_size == 18, changed
    assert not calls.page_themes_service_find_matching_template(link_id).matched
