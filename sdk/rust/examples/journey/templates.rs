use signpost_client::v1::{
    CreateMediaRequest, CreateQrcodeTemplateRequest, DeleteMediaRequest, DeleteQrcodeTemplateRequest, DotsOptions,
    DotsType, GetMediaRequest, GetQrcodeTemplateRequest, ImportQrcodeTemplateRequest, ListMediaRequest,
    ListQrcodeTemplatesRequest, PublicCreateQrcodeDesignRequest, PublicGetQrcodeTemplateRequest,
    PublicListQrcodeTemplatesRequest, PublishQrcodeTemplateRequest, QrcodeTemplateScope,
    ResolveQrcodeTemplateImagesRequest, UpdateQrcodeTemplateRequest, media,
};
use signpost_client::{Client, items};

use crate::support::{Outcome, PICTURE, mask, until};

pub async fn make_template(client: &Client, run: &str) -> Outcome<String> {
    let mut calls = client.qrcode_templates();
    let dots_options = Some(DotsOptions { r#type: DotsType::Rounded.into(), ..Default::default() });
    let rounded = PublicCreateQrcodeDesignRequest { dots_options, ..Default::default() };
    let design = client.qrcode_design().public_create(rounded).await?.into_inner().qrcode_design.unwrap_or_default();
    let wanted = CreateQrcodeTemplateRequest {
        name: "Journey".into(),
        description: "Round dots".into(),
        tags: "menu".into(),
        qrcode_design_id: design.id,
        ..Default::default()
    };
    let id = calls.create_qrcode_template(wanted).await?.into_inner().qrcode_template.unwrap_or_default().id;
    let asked = GetQrcodeTemplateRequest { id: id.clone(), include: vec!["qrcodeDesign".into()] };
    let read = calls.get_qrcode_template(asked).await?.into_inner().qrcode_template.unwrap_or_default();
    let dots = read.qrcode_design.and_then(|design| design.dots_options).unwrap_or_default();
    assert_eq!(dots.r#type(), DotsType::Rounded);
    let change = UpdateQrcodeTemplateRequest {
        id: id.clone(),
        name: "Renamed".into(),
        slug: run.into(),
        tags: "ignored".into(),
        update_mask: mask(&["name", "slug"]),
        ..Default::default()
    };
    let changed = calls.update_qrcode_template(change).await?.into_inner().qrcode_template.unwrap_or_default();
    assert_eq!((changed.name.as_str(), changed.tags.as_str()), ("Renamed", "menu"));
    let own = ListQrcodeTemplatesRequest { scope: QrcodeTemplateScope::Workspace.into(), ..Default::default() };
    let mut listed = items(own, async |request| calls.list_qrcode_templates(request).await);
    let mut is_listed = false;
    while let Some(template) = listed.next().await? {
        is_listed |= template.id == id;
    }
    assert!(is_listed);
    let published = calls.publish_qrcode_template(PublishQrcodeTemplateRequest { id: id.clone() }).await?.into_inner();
    assert!(published.qrcode_template.unwrap_or_default().published_at.is_some());
    until("a thumbnail", async || {
        let images = ResolveQrcodeTemplateImagesRequest { template_ids: vec![id.clone()] };
        let mut urls = calls.resolve_qrcode_template_images(images).await?.into_inner().thumbnail_signed_urls;
        Ok(urls.remove(&id))
    })
    .await?;
    copy_published(client).await?;
    Ok(id)
}

async fn copy_published(client: &Client) -> Outcome<()> {
    let mut calls = client.qrcode_templates();
    let public = PublicListQrcodeTemplatesRequest::default();
    let mut shown = items(public, async |request| calls.public_list_qrcode_templates(request).await);
    let first = shown.next().await?.ok_or("there are no built-in templates")?;
    let mut calls = client.qrcode_templates();
    let by_slug = PublicGetQrcodeTemplateRequest { slug: first.slug.clone(), ..Default::default() };
    let read = calls.public_get_qrcode_template(by_slug).await?.into_inner().qrcode_template.unwrap_or_default();
    assert_eq!(read.name, first.name);
    let copied = calls.import_qrcode_template(ImportQrcodeTemplateRequest { slug: first.slug }).await?.into_inner();
    let id = copied.qrcode_template.unwrap_or_default().id;
    calls.delete_qrcode_template(DeleteQrcodeTemplateRequest { id }).await?;
    Ok(())
}

pub async fn keep_media(client: &Client) -> Outcome<()> {
    let mut calls = client.media();
    let upload = CreateMediaRequest {
        file_data: PICTURE.into(),
        media_type: media::Type::Badge.into(),
        file_name: "badge.png".into(),
        ..Default::default()
    };
    let id = calls.create(upload).await?.into_inner().media.unwrap_or_default().id;
    let read = calls.get(GetMediaRequest { id: id.clone() }).await?.into_inner().media.unwrap_or_default();
    assert_eq!(read.mime_type, "image/png");
    let mut listed = items(ListMediaRequest::default(), async |request| calls.list(request).await);
    let newest = listed.next().await?.unwrap_or_default();
    assert_eq!(newest.id, id);
    client.media().delete(DeleteMediaRequest { id }).await?;
    Ok(())
}
