use std::env;

use signpost_client::options::v1::ApiScope;
use signpost_client::v1::simulated_answer::Answer;
use signpost_client::v1::workflow_step_payload::Variant;
use signpost_client::v1::{
    AutoLayoutWorkflowRequest, ConnectWorkflowStepRequest, CreateLinkRequest, CreateWorkflowStepRequest,
    CreateWorkspaceTokenRequest, DeleteWorkflowStepRequest, DeleteWorkspaceTokenRequest, DisconnectWorkflowStepRequest,
    EventAction, FormField, FormPayload, GetWorkflowStepRequest, GetWorkspaceTokenRequest, ListLinksRequest,
    ListWorkflowStepsRequest, ListWorkspaceTokensRequest, ResolveStepCollisionsRequest, SimulateWorkflowRequest,
    SimulatedAnswer, SimulatedFieldAnswer, SimulatedFormAnswer, SimulatedVisit, UpdateWorkflowStepRequest,
    UpdateWorkspaceTokenRequest, ValidateWorkflowRequest, WorkflowStepPayload, WorkspaceTokenKeyType,
};
use signpost_client::{Client, items};

use crate::support::{Outcome, mask, reason_of};

pub async fn wire(client: &Client, link_id: &str) -> Outcome<()> {
    let mut calls = client.workflow_steps();
    let of_link = ListWorkflowStepsRequest { link_id: link_id.into(), ..Default::default() };
    let listed = calls.list(of_link).await?.into_inner().workflow_steps;
    let exit = listed.iter().find(|each| each.event_action() == EventAction::ClientRedirect).ok_or("no redirect")?;
    let id = add_form(client, link_id, &exit.id).await?;
    retitle(client, link_id, &id).await?;
    let (link_id, branch_id) = (link_id.to_owned(), "next".to_owned());
    let cut =
        DisconnectWorkflowStepRequest { link_id: link_id.clone(), step_id: id.clone(), branch_id: branch_id.clone() };
    assert_eq!(calls.disconnect_step(cut).await?.into_inner().unconnected_branch_ids, ["next"]);
    let again = ConnectWorkflowStepRequest {
        link_id: link_id.clone(),
        step_id: id.clone(),
        branch_id,
        next_step_id: exit.id.clone(),
    };
    assert!(calls.connect_step(again).await?.into_inner().unconnected_branch_ids.is_empty());
    let mended = ResolveStepCollisionsRequest { link_id: link_id.clone(), step_id: id.clone() };
    calls.resolve_step_collisions(mended).await?;
    calls.auto_layout_workflow(AutoLayoutWorkflowRequest { link_id: link_id.clone() }).await?;
    let issues =
        calls.validate_workflow(ValidateWorkflowRequest { link_id: link_id.clone() }).await?.into_inner().issues;
    assert!(issues.is_empty(), "{issues:?}");
    let mail = SimulatedFieldAnswer { field: "mail".into(), values: vec!["ada@example.com".into()] };
    let answered = Answer::Form(SimulatedFormAnswer { fields: vec![mail], ..Default::default() });
    let visit = SimulateWorkflowRequest {
        link_id: link_id.clone(),
        visit: Some(SimulatedVisit { country: "DE".into(), ..Default::default() }),
        answers: vec![SimulatedAnswer { step_id: id.clone(), answer: Some(answered) }],
    };
    let path = calls.simulate(visit).await?.into_inner().path;
    assert_eq!(path.last().map(|step| &step.step_id), Some(&exit.id));
    calls.delete(DeleteWorkflowStepRequest { link_id, id }).await?;
    Ok(())
}

async fn add_form(client: &Client, link_id: &str, before: &str) -> Outcome<String> {
    let mail = FormField { id: "mail".into(), key: "$email".into(), label: "E-mail".into(), ..Default::default() };
    let form = FormPayload { form_title: "Old".into(), form_fields: vec![mail], ..Default::default() };
    let wanted = CreateWorkflowStepRequest {
        link_id: link_id.into(),
        event_action: EventAction::FormSubmit.into(),
        insert_before: before.into(),
        payload: Some(WorkflowStepPayload { variant: Some(Variant::Form(form)) }),
        ..Default::default()
    };
    Ok(client.workflow_steps().create(wanted).await?.into_inner().workflow_step.unwrap_or_default().id)
}

async fn retitle(client: &Client, link_id: &str, id: &str) -> Outcome<()> {
    let form = FormPayload { form_title: "Who are you?".into(), ..Default::default() };
    let change = UpdateWorkflowStepRequest {
        link_id: link_id.into(),
        id: id.into(),
        payload: Some(WorkflowStepPayload { variant: Some(Variant::Form(form)) }),
        update_mask: mask(&["payload.form.form_title"]),
        ..Default::default()
    };
    client.workflow_steps().update(change).await?;
    let asked = GetWorkflowStepRequest { link_id: link_id.into(), id: id.into() };
    let step = client.workflow_steps().get(asked).await?.into_inner().workflow_step.unwrap_or_default();
    let Some(Variant::Form(read)) = step.payload.and_then(|payload| payload.variant) else {
        return Err("the step has no form".into());
    };
    assert_eq!((read.form_title.as_str(), read.form_fields[0].label.as_str()), ("Who are you?", "E-mail"));
    Ok(())
}

pub async fn delegate(client: &Client) -> Outcome<()> {
    let mut calls = client.workspace_tokens();
    let wanted = CreateWorkspaceTokenRequest {
        key_type: WorkspaceTokenKeyType::Secret.into(),
        name: "reader".into(),
        scopes: vec![ApiScope::LinksRead.into()],
    };
    let made = calls.create(wanted).await?.into_inner();
    let id = made.token.unwrap_or_default().id;
    let read = calls.get(GetWorkspaceTokenRequest { id: id.clone() }).await?.into_inner();
    assert!(!read.token.unwrap_or_default().full_access);
    let mut listed = items(ListWorkspaceTokensRequest::default(), async |request| calls.list(request).await);
    let mut is_listed = false;
    while let Some(token) = listed.next().await? {
        is_listed |= token.id == id;
    }
    assert!(is_listed);
    let mut calls = client.workspace_tokens();
    let change = UpdateWorkspaceTokenRequest { id: id.clone(), name: "guest".into(), ..Default::default() };
    assert_eq!(calls.update(change).await?.into_inner().token.unwrap_or_default().name, "guest");
    let reader = Client::new(&env::var("SIGNPOST_URL")?, &made.access_token.unwrap_or_default())?;
    reader.links().list(ListLinksRequest::default()).await?;
    let link = CreateLinkRequest { destination: "https://example.com".into(), ..Default::default() };
    assert_eq!(reason_of(reader.links().create(link).await), "INSUFFICIENT_SCOPE");
    calls.delete(DeleteWorkspaceTokenRequest { id }).await?;
    Ok(())
}
