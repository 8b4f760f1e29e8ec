use signpost_client::Client;
use signpost_client::prost_types::value::Kind;
use signpost_client::v1::{
    AttributeFilter, CreateLinkRequest, DeleteAttributeRequest, DeleteVisitorRequest, EventAction, GetLeadScoreRequest,
    GetLinkSettingRequest, GetVisitorRequest, IdentifyRequest, Link, ListEventTracesRequest, ListEventsRequest,
    ListVisitorAttributeKeysRequest, ListVisitorsRequest, SearchVisitorsRequest, UpdateLinkSettingRequest,
    UpdateVisitorRequest, VisitorAttributeFilterOperator,
};

use crate::support::{Outcome, follow, in_seconds, object, reason_of, until};

pub async fn visit(client: &Client, link: &Link) -> Outcome<String> {
    let destination = follow(&link.entrypoint)?;
    let lbid = destination.query().and_then(|query| query.strip_prefix("lbid=")).ok_or("no lbid")?.to_owned();
    let event = until("an event", async || {
        let include = vec!["device".into(), "workspace".into()];
        let request = ListEventsRequest { link_id: link.id.clone(), include, ..Default::default() };
        let page = client.events().list_events(request).await?.into_inner().json.unwrap_or_default();
        Ok(page.events.into_iter().next())
    })
    .await?;
    assert_eq!(event.device.unwrap_or_default().browser_name, "Firefox");
    let of_event = ListEventTracesRequest { event_id: event.id.clone() };
    let traces = client.events().list_event_traces(of_event).await?.into_inner().traces;
    assert!(traces.iter().any(|each| each.step_action() == EventAction::ClientRedirect), "{traces:?}");
    until("a lead score", async || {
        let score = GetLeadScoreRequest { link_id: link.id.clone(), event_id: event.id.clone() };
        let reason = reason_of(client.links().get_lead_score(score).await);
        assert!(reason.is_empty() || reason == "LEAD_SCORE_NOT_FOUND", "{reason}");
        Ok(reason.is_empty().then_some(()))
    })
    .await?;
    keep_setting(client, event.workspace.unwrap_or_default().link_setting_id).await?;
    Ok(lbid)
}

async fn keep_setting(client: &Client, id: String) -> Outcome<()> {
    let mut calls = client.link_settings();
    let before = calls.get_link_setting(GetLinkSettingRequest { id: id.clone() }).await?.into_inner();
    let data_collection = before.link_setting.unwrap_or_default().data_collection;
    let after = calls.update_link_setting(UpdateLinkSettingRequest { id, data_collection }).await?.into_inner();
    assert_eq!(after.link_setting.unwrap_or_default().data_collection, data_collection);
    Ok(())
}

pub async fn expire(client: &Client) -> Outcome<()> {
    let wanted = CreateLinkRequest {
        destination: "https://example.com/now".into(),
        expired_destination: "https://example.com/over".into(),
        expires_at: in_seconds(3)?,
        ..Default::default()
    };
    let link = client.links().create(wanted).await?.into_inner().link.unwrap_or_default();
    assert_eq!(follow(&link.entrypoint)?.path(), "/now");
    until("the expiry", async || Ok((follow(&link.entrypoint)?.path() == "/over").then_some(()))).await
}

pub async fn tell_visitors(client: &Client, run: &str, lbid: &str) -> Outcome<()> {
    let mut calls = client.visitors();
    let email = format!("{run}@example.com");
    let who = object(&[("$email", Kind::StringValue(email.clone())), ("seats", Kind::NumberValue(4.0))]);
    let identity = IdentifyRequest { lbid: lbid.into(), visitor: who, ..Default::default() };
    let id = calls.identify(identity).await?.into_inner().visitor.unwrap_or_default().id;
    let by_email = ListVisitorsRequest { email: email.clone(), ..Default::default() };
    let page = calls.list(by_email).await?.into_inner().json.unwrap_or_default().visitors;
    assert_eq!(page.iter().map(|each| &each.id).collect::<Vec<_>>(), [&id]);
    let seated = AttributeFilter {
        key: "seats".into(),
        operator: VisitorAttributeFilterOperator::NumberGreaterThan.into(),
        value: "3".into(),
    };
    let search = SearchVisitorsRequest { email: email.clone(), attribute_filters: vec![seated], ..Default::default() };
    let searched = calls.search(search).await?.into_inner().json.unwrap_or_default();
    assert_eq!(searched.visitors.len(), 1);
    let keys = calls.list_attribute_keys(ListVisitorAttributeKeysRequest::default()).await?.into_inner();
    assert!(keys.attribute_keys.contains(&"seats".to_owned()));
    let named = object(&[("$firstName", Kind::StringValue("Ada".into()))]);
    let changed = calls.update(UpdateVisitorRequest { id: id.clone(), visitor: named }).await?.into_inner();
    assert_eq!(changed.visitor.unwrap_or_default().first_name, "Ada");
    let seats = DeleteAttributeRequest { id: id.clone(), attribute_key: "seats".into() };
    assert!(calls.delete_attribute(seats).await?.into_inner().success);
    let asked = GetVisitorRequest { id: id.clone(), include: vec!["events".into()] };
    let read = calls.get(asked).await?.into_inner().visitor.unwrap_or_default();
    assert_eq!((read.email, read.events.is_empty()), (email, false));
    assert!(calls.delete(DeleteVisitorRequest { id }).await?.into_inner().success);
    Ok(())
}
