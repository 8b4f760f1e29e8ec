use std::env;

use signpost_client::Client;
use signpost_client::v1::{
    AgentClaimStatus, CompleteAgentClaimRequest, DeleteWorkspaceRequest, GetMyselfRequest, LookupAgentClaimRequest,
};

use crate::support::{Outcome, post, text_after};

/// Registers as an agent, and claims the workspace as its person.
pub async fn claim_as_person(client: &Client, name: &str) -> Outcome<()> {
    let email = format!("{name}-agent@example.com");
    let body = format!(r#"{{"type":"service_auth","login_hint":"{email}","client_name":"Journey"}}"#);
    let answer = post(&format!("{}/agent/identity", env::var("SIGNPOST_AUTH_URL")?), &body)?;
    let token = text_after(&answer, "claim_attempt_token=")?;
    let user_code = text_after(&answer, r#""user_code":""#)?;
    let mut calls = client.agent_identity();
    let asked = LookupAgentClaimRequest { claim_attempt_token: token.clone() };
    let link = calls.lookup_claim(asked).await?.into_inner().claim_link.unwrap_or_default();
    assert_eq!((&*link.email, link.status()), (&*email, AgentClaimStatus::Pending));
    let proof = CompleteAgentClaimRequest {
        claim_attempt_token: token,
        user_code,
        password: "correct horse battery".into(),
        ..Default::default()
    };
    let member = calls.complete_claim(proof).await?.into_inner().member.unwrap_or_default();
    let own = Client::new(&env::var("SIGNPOST_URL")?, &member.access_token.unwrap_or_default())?;
    let myself = own.members().get_myself(GetMyselfRequest {}).await?.into_inner().member.unwrap_or_default();
    assert_eq!(myself.email, email);
    own.workspaces().delete(DeleteWorkspaceRequest {}).await?;
    Ok(())
}
