use signpost_client::v1::{
    ApplyQrcodeTemplateRequest, CreateContactLinkRequest, CreateLinkRequest, CreateThankYouLinkRequest,
    DeleteLinkRequest, DeleteQrcodeDesignRequest, DotsOptions, DotsType, GetLinkRequest, GetQrcodeDesignRequest, Link,
    ListLinksRequest, PublicCreateQrcodeDesignRequest, ResolveQrcodeImagesRequest, ShortlinkAvailabilityRequest,
    ShortlinkRandomRequest, UpdateLinkRequest, UpdateQrcodeDesignRequest, VCardPayload, VerifyQrcodeDesignRequest,
};
use signpost_client::{Client, items};

use crate::support::{Outcome, in_seconds, mask, reason_of, until};

pub async fn make_link(client: &Client, run: &str, template_id: &str) -> Outcome<Link> {
    let mut calls = client.links();
    let shortlink = calls.shortlink_random(ShortlinkRandomRequest {}).await?.into_inner().shortlink;
    let asked = ShortlinkAvailabilityRequest { shortlink: shortlink.clone(), ..Default::default() };
    assert!(calls.shortlink_availability(asked).await?.into_inner().available);
    let wanted = CreateLinkRequest {
        destination: "https://example.com/menu".into(),
        shortlink,
        qrcode_template_id: template_id.into(),
        name: "Menu".into(),
        purpose: "sales leads".into(),
        tags: vec![run.into()],
        metadata: [("table".into(), "7".into())].into(),
        conversion_tracking: true,
        expires_at: in_seconds(86_400)?,
        wait_for_qrcode: true,
        ..Default::default()
    };
    let id = calls.create(wanted).await?.into_inner().link.unwrap_or_default().id;
    let whole = GetLinkRequest { id: id.clone(), include: vec!["tags".into(), "qrcodeDesign".into()] };
    let read = calls.get(whole).await?.into_inner().link.unwrap_or_default();
    assert_eq!((read.metadata["table"].as_str(), read.tags[0].name.as_str()), ("7", run));
    let dots = read.qrcode_design.and_then(|design| design.dots_options).unwrap_or_default();
    assert_eq!(dots.r#type(), DotsType::Rounded);
    let change = UpdateLinkRequest {
        id,
        name: "Lunch".into(),
        tags: vec![run.into(), "lunch".into()],
        expires_at_delete: true,
        ..Default::default()
    };
    let link = calls.update(change).await?.into_inner().link.unwrap_or_default();
    assert_eq!((link.name.as_str(), &link.expires_at), ("Lunch", &None));
    other_links(client, run, &link).await?;
    Ok(link)
}

async fn other_links(client: &Client, run: &str, link: &Link) -> Outcome<()> {
    let mut calls = client.links();
    let card = VCardPayload {
        first_name: "Ada".into(),
        last_name: "Lovelace".into(),
        phone: "+15551234567".into(),
        ..Default::default()
    };
    let ada = CreateContactLinkRequest {
        vcard_data: Some(card),
        name: "Ada".into(),
        tags: vec![run.into()],
        ..Default::default()
    };
    let contact = calls.create_contact_link(ada).await?.into_inner().link.unwrap_or_default();
    let page = CreateThankYouLinkRequest {
        title: "Thank you".into(),
        name: "Thanks".into(),
        tags: vec![run.into()],
        ..Default::default()
    };
    let thanks = calls.create_thank_you_link(page).await?.into_inner().link.unwrap_or_default();
    let tagged = ListLinksRequest { tags: vec![run.into()], page_size: 2, ..Default::default() };
    let mut found = items(tagged, async |request| calls.list(request).await);
    let mut names = Vec::new();
    while let Some(each) = found.next().await? {
        names.push(each.name);
    }
    assert_eq!(names, ["Thanks", "Ada", "Lunch"]);
    let link_ids = vec![link.id.clone(), contact.id.clone(), thanks.id.clone()];
    until("every image", async || {
        let images = ResolveQrcodeImagesRequest { link_ids: link_ids.clone() };
        let urls = calls.resolve_qrcode_images(images).await?.into_inner().qrcode_signed_urls;
        Ok((urls.len() == 3).then_some(()))
    })
    .await?;
    for id in [contact.id, thanks.id.clone()] {
        calls.delete(DeleteLinkRequest { id }).await?;
    }
    let gone = calls.get(GetLinkRequest { id: thanks.id, ..Default::default() }).await;
    assert_eq!(reason_of(gone), "NOT_FOUND");
    Ok(())
}

pub async fn restyle(client: &Client, link: &Link) -> Outcome<()> {
    let mut calls = client.qrcode_design();
    let id = link.qrcode_design_id.clone();
    let before = calls.get(GetQrcodeDesignRequest { id: id.clone() }).await?.into_inner().qrcode_design;
    let mut expected = before.and_then(|design| design.dots_options).unwrap_or_default();
    expected.set_type(DotsType::Dots);
    let change = UpdateQrcodeDesignRequest {
        id: id.clone(),
        dots_options: Some(DotsOptions { r#type: DotsType::Dots.into(), ..Default::default() }),
        update_mask: mask(&["dots_options.type"]),
        ..Default::default()
    };
    let changed = calls.update(change).await?.into_inner().qrcode_design.unwrap_or_default();
    assert_eq!(changed.dots_options, Some(expected));
    let verified = calls.verify(VerifyQrcodeDesignRequest { id }).await?.into_inner();
    assert!(verified.scannability.unwrap_or_default().readable);
    let template = ApplyQrcodeTemplateRequest {
        link_id: link.id.clone(),
        qrcode_template_id: link.qrcode_template_id.clone(),
        ..Default::default()
    };
    let applied = calls.apply_template(template).await?.into_inner().qrcode_design.unwrap_or_default();
    assert_eq!(applied.dots_options.unwrap_or_default().r#type(), DotsType::Rounded);
    let plain = PublicCreateQrcodeDesignRequest::default();
    let unused = calls.public_create(plain).await?.into_inner().qrcode_design.unwrap_or_default();
    calls.delete(DeleteQrcodeDesignRequest { id: unused.id }).await?;
    Ok(())
}
