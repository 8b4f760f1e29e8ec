use std::env;

use signpost_client::Client;
use signpost_client::v1::{
    CreateLinkRequest, CreateSandboxRequest, DeleteSandboxRequest, GetWorkspaceRequest, ListEventsRequest,
    ListSandboxesRequest, SimulateVisitsRequest,
};

use crate::support::{Outcome, reason_of};

/// Makes a sandbox, lets invented people visit a link in it, and deletes it.
pub async fn play(client: &Client) -> Outcome<()> {
    let mut calls = client.sandboxes();
    let wanted = CreateSandboxRequest { name: "Journey".into() };
    let made = calls.create(wanted).await?.into_inner();
    let inside = Client::new(&env::var("SIGNPOST_URL")?, made.access_token())?;
    let id = made.sandbox.unwrap_or_default().id;
    assert!(is_listed(client, &id).await?);
    let asked = GetWorkspaceRequest { id: id.clone() };
    let workspace = client.workspaces().get_workspace(asked).await?.into_inner().workspace.unwrap_or_default();
    assert!(workspace.is_sandbox);
    let link = CreateLinkRequest { destination: "https://example.com/sandbox".into(), ..Default::default() };
    let link_id = inside.links().create(link).await?.into_inner().link.unwrap_or_default().id;
    let visits = SimulateVisitsRequest {
        id: id.clone(),
        count: 5,
        seed: 1,
        link_ids: vec![link_id.clone()],
        ..Default::default()
    };
    let simulated = calls.simulate_visits(visits).await?.into_inner();
    assert_eq!((simulated.visit_count, simulated.event_ids.len()), (5, 5));
    let asked = ListEventsRequest { link_id, ..Default::default() };
    let found = inside.events().list_events(asked).await?.into_inner().json.unwrap_or_default();
    assert_eq!(found.events.len(), 5);
    let refused = inside.sandboxes().create(CreateSandboxRequest::default()).await;
    assert_eq!(reason_of(refused), "LIVE_CREDENTIAL_REQUIRED");
    calls.delete(DeleteSandboxRequest { id: id.clone() }).await?;
    assert!(!is_listed(client, &id).await?);
    Ok(())
}

async fn is_listed(client: &Client, id: &str) -> Outcome<bool> {
    let listed = client.sandboxes().list(ListSandboxesRequest {}).await?.into_inner().sandboxes;
    Ok(listed.iter().any(|each| each.id == id))
}
