use signpost_client::v1::{
    ApplyPageThemeTemplateRequest, CreatePageThemeTemplateRequest, DeletePageThemeTemplateRequest,
    FindMatchingPageThemeTemplateRequest, FontConfig, GetPageThemeRequest, GetPageThemeTemplateRequest,
    ImportPageThemeTemplateRequest, ListPageThemeTemplatesRequest, ListPageThemesRequest, PageThemeStyling,
    PageThemeTemplateScope, PreviewPageThemeRequest, PublicGetPageThemeTemplateRequest,
    PublicListPageThemeTemplatesRequest, PublishPageThemeTemplateRequest, ResolvePageThemeTemplateImagesRequest,
    UpdatePageThemeRequest, UpdatePageThemeTemplateRequest, UpdatePageThemeTemplateStylingRequest,
};
use signpost_client::{Client, items};

use crate::support::{Outcome, mask};

/// Makes a look, publishes it, gives it to the link, and looks at the link's pages.
pub async fn wear_template(client: &Client, run: &str, link_id: &str) -> Outcome<()> {
    let id = make_template(client, run).await?;
    let mut calls = client.page_theme_templates();
    let own = ListPageThemeTemplatesRequest { scope: PageThemeTemplateScope::Workspace.into(), ..Default::default() };
    let mut listed = items(own, async |request| calls.list_page_theme_templates(request).await);
    let mut is_listed = false;
    while let Some(template) = listed.next().await? {
        is_listed |= template.id == id;
    }
    assert!(is_listed);
    let mut calls = client.page_theme_templates();
    let publication = PublishPageThemeTemplateRequest { id: id.clone() };
    let published = calls.publish_page_theme_template(publication).await?.into_inner();
    assert!(published.page_theme_template.unwrap_or_default().published_at.is_some());
    let wanted = ResolvePageThemeTemplateImagesRequest { template_ids: vec![id.clone()] };
    let images = calls.resolve_page_theme_template_images(wanted).await?.into_inner().images;
    assert!(images.contains_key(&id));
    copy_published(client).await?;
    wear(client, link_id, &id).await?;
    calls.delete_page_theme_template(DeletePageThemeTemplateRequest { id }).await?;
    Ok(())
}

async fn make_template(client: &Client, run: &str) -> Outcome<String> {
    let mut calls = client.page_theme_templates();
    let wanted = CreatePageThemeTemplateRequest {
        name: "Journey".into(),
        description: "With a badge".into(),
        tags: "menu".into(),
        styling: Some(PageThemeStyling { badge_enabled: true, ..Default::default() }),
        ..Default::default()
    };
    let made = calls.create_page_theme_template(wanted).await?.into_inner();
    let id = made.page_theme_template.unwrap_or_default().id;
    let change = UpdatePageThemeTemplateRequest {
        id: id.clone(),
        name: "Renamed".into(),
        slug: run.into(),
        tags: "ignored".into(),
        update_mask: mask(&["name", "slug"]),
        ..Default::default()
    };
    let changed = calls.update_page_theme_template(change).await?.into_inner().page_theme_template.unwrap_or_default();
    assert_eq!((changed.name.as_str(), changed.tags.as_str()), ("Renamed", "menu"));
    let larger = UpdatePageThemeTemplateStylingRequest { id: id.clone(), body_font: font_of(20), ..Default::default() };
    calls.update_page_theme_template_styling(larger).await?;
    let asked = GetPageThemeTemplateRequest { id: id.clone(), include: vec!["pageTheme".into()] };
    let read = calls.get_page_theme_template(asked).await?.into_inner().page_theme_template.unwrap_or_default();
    let look = read.page_theme.unwrap_or_default();
    assert!(look.badge_enabled);
    assert_eq!(look.body_font.unwrap_or_default().font_size, 20);
    Ok(id)
}

async fn copy_published(client: &Client) -> Outcome<()> {
    let mut calls = client.page_theme_templates();
    let public = PublicListPageThemeTemplatesRequest::default();
    let mut shown = items(public, async |request| calls.public_list_page_theme_templates(request).await);
    let first = shown.next().await?.ok_or("there are no built-in templates")?;
    let mut calls = client.page_theme_templates();
    let by_slug = PublicGetPageThemeTemplateRequest { slug: first.slug.clone(), ..Default::default() };
    let read = calls.public_get_page_theme_template(by_slug).await?.into_inner();
    assert_eq!(read.page_theme_template.unwrap_or_default().name, first.name);
    let source = ImportPageThemeTemplateRequest { slug: first.slug };
    let copied = calls.import_page_theme_template(source).await?.into_inner();
    let id = copied.page_theme_template.unwrap_or_default().id;
    calls.delete_page_theme_template(DeletePageThemeTemplateRequest { id }).await?;
    Ok(())
}

async fn wear(client: &Client, link_id: &str, template_id: &str) -> Outcome<()> {
    let mut calls = client.page_themes();
    let template = ApplyPageThemeTemplateRequest {
        link_id: link_id.into(),
        page_theme_template_id: template_id.into(),
        ..Default::default()
    };
    let id = calls.apply_template(template).await?.into_inner().page_theme.unwrap_or_default().id;
    let asked = GetPageThemeRequest { id: id.clone() };
    let read = calls.get_page_theme(asked).await?.into_inner().page_theme.unwrap_or_default();
    assert_eq!(read.body_font.unwrap_or_default().font_size, 20);
    let listed = calls.list_page_themes(ListPageThemesRequest::default()).await?.into_inner().page_themes;
    assert_eq!(listed.iter().map(|each| &each.id).collect::<Vec<_>>(), [&id]);
    let of_link = FindMatchingPageThemeTemplateRequest { link_id: link_id.into() };
    let matching = calls.find_matching_template(of_link.clone()).await?.into_inner();
    assert_eq!(matching.page_theme_template.unwrap_or_default().id, template_id);
    let preview = PreviewPageThemeRequest { id: id.clone(), step: "thank-you".into(), ..Default::default() };
    let page = calls.preview_page_theme(preview).await?.into_inner().page.unwrap_or_default();
    assert!(String::from_utf8(page.data)?.contains("Thank you!"));
    let smaller = UpdatePageThemeRequest { id, body_font: font_of(18), ..Default::default() };
    let changed = calls.update_page_theme(smaller).await?.into_inner().page_theme.unwrap_or_default();
    assert_eq!(changed.body_font.unwrap_or_default().font_size, 18);
    assert!(!calls.find_matching_template(of_link).await?.into_inner().matched);
    Ok(())
}

fn font_of(font_size: i32) -> Option<FontConfig> {
    Some(FontConfig { font_size, ..Default::default() })
}
