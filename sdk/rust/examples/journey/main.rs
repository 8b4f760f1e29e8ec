//! Walks through every group of the service at SIGNPOST_URL, with SIGNPOST_TOKEN, by the steps of sdk/JOURNEY.md; ends with an
//! error when an answer is not as it should be.

mod agents;
mod analytics;
mod assistant;
mod dashboards;
mod directories;
mod domains;
mod exports;
mod google_forms;
mod links;
mod page_themes;
mod people;
mod sandbox;
mod slack;
mod support;
mod templates;
mod visits;
mod webhooks;
mod workflow;
mod workspace;

use std::env;
use std::time::{SystemTime, UNIX_EPOCH};

use signpost_client::Client;
use signpost_client::options::v1::ApiScope;
use signpost_client::v1::{DeleteLinkRequest, DeleteQrcodeTemplateRequest, ListApiScopesRequest};
use support::Outcome;

#[tokio::main]
async fn main() -> Outcome<()> {
    let client = Client::new(&env::var("SIGNPOST_URL")?, &env::var("SIGNPOST_TOKEN")?)?;
    let run = format!("journey-{}", SystemTime::now().duration_since(UNIX_EPOCH)?.as_micros());

    let scopes = client.api_scopes().list(ListApiScopesRequest {}).await?.into_inner().scopes;
    assert!(scopes.iter().any(|each| each.scope() == ApiScope::LinksRead), "{scopes:?}");
    workspace::open(&client, &run).await?;
    let template_id = templates::make_template(&client, &run).await?;
    templates::keep_media(&client).await?;
    let link = links::make_link(&client, &run, &template_id).await?;
    links::restyle(&client, &link).await?;
    page_themes::wear_template(&client, &run, &link.id).await?;
    let lbid = visits::visit(&client, &link).await?;
    analytics::analyse(&client, &link).await?;
    dashboards::present(&client, &link.id).await?;
    exports::take_away(&client, &link.id).await?;
    webhooks::subscribe(&client).await?;
    domains::bring(&client, &run).await?;
    slack::ask_for_slack(&client).await?;
    assistant::ask(&client, &link.id).await?;
    google_forms::ask_for_forms(&client).await?;
    visits::expire(&client).await?;
    visits::tell_visitors(&client, &run, &lbid).await?;
    workflow::wire(&client, &link.id).await?;
    workflow::delegate(&client).await?;
    let directory_id = directories::nest(&client, &run).await?;
    directories::make_many_links(&client, &run, &directory_id).await?;
    people::sign_in(&client).await?;
    people::invite(&client, &run).await?;
    agents::claim_as_person(&client, &run).await?;
    sandbox::play(&client).await?;
    client.links().delete(DeleteLinkRequest { id: link.id }).await?;
    client.qrcode_templates().delete_qrcode_template(DeleteQrcodeTemplateRequest { id: template_id }).await?;
    workspace::close(&client).await?;
    println!("rust: walked the journey");
    Ok(())
}
