//! The example of the READMEs, on the service at SIGNPOST_URL with SIGNPOST_TOKEN. It leaves no link behind.

use std::env;
use std::error::Error;

use signpost_client::v1::{CreateLinkRequest, DeleteLinkRequest, ListLinksRequest};
use signpost_client::{Client, SignpostError, items};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (url, token) = (env::var("SIGNPOST_URL")?, env::var("SIGNPOST_TOKEN")?);

    let client = Client::new(&url, &token)?;
    let mut links = client.links();
    let menu =
        CreateLinkRequest { destination: "https://example.com/menu".into(), name: "Menu".into(), ..Default::default() };
    let created = links.create(menu.clone()).await.map_err(SignpostError::from)?.into_inner();

    let search = ListLinksRequest { search: "menu".into(), ..Default::default() };
    let mut found = items(search, async |request| links.list(request).await);
    while let Some(link) = found.next().await? {
        println!("{}", link.entrypoint);
    }

    let link = created.link.ok_or("no link was answered with")?;
    let request = CreateLinkRequest { shortlink: link.shortlink, ..menu };
    match links.create(request).await.map_err(SignpostError::from) {
        Err(error) if error.reason == "SHORTLINK_TAKEN" => {}
        answer => panic!("a short link that is taken answers {answer:?}"),
    }
    links.delete(DeleteLinkRequest { id: link.id }).await.map_err(SignpostError::from)?;
    Ok(())
}
