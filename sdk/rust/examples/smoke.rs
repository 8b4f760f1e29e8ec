//! Tests the client on the service at SIGNPOST_URL with SIGNPOST_TOKEN. It creates links, and leaves none behind.

use std::collections::HashSet;
use std::env;
use std::error::Error;
use std::time::{SystemTime, UNIX_EPOCH};

use signpost_client::tonic::Code;
use signpost_client::v1::links_service_client::LinksServiceClient;
use signpost_client::v1::{CreateLinkRequest, DeleteLinkRequest, GetLinkRequest, ListLinksRequest};
use signpost_client::{Client, SignpostError, Transport, items, with_idempotency_key};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let client = Client::new(&env::var("SIGNPOST_URL")?, &env::var("SIGNPOST_TOKEN")?)?;
    let mut links = client.links();
    let run = format!("rust-{}", SystemTime::now().duration_since(UNIX_EPOCH)?.as_micros());

    let mut created = HashSet::new();
    for number in 1..=5 {
        let request = CreateLinkRequest {
            destination: format!("https://example.com/{number}"),
            name: format!("{run} {number}"),
            ..Default::default()
        };
        let link = links.create(request).await.map_err(SignpostError::from)?.into_inner().link;
        created.insert(link.ok_or("no link was answered with")?.id);
    }

    same_key_makes_one_link(&mut links, &run, &mut created).await?;
    let listed = list(&mut links, &run).await?;
    assert_eq!(listed.len(), 6, "every link is listed once");
    assert_eq!(listed.into_iter().collect::<HashSet<_>>(), created);
    errors_are_typed(&mut links).await;

    for id in created {
        links.delete(DeleteLinkRequest { id }).await.map_err(SignpostError::from)?;
    }
    println!("rust: created, repeated, paged and failed as it should");
    Ok(())
}

async fn same_key_makes_one_link(
    links: &mut LinksServiceClient<Transport>,
    run: &str,
    created: &mut HashSet<String>,
) -> Result<(), Box<dyn Error>> {
    let request = CreateLinkRequest {
        destination: "https://example.com/once".into(),
        name: format!("{run} once"),
        ..Default::default()
    };
    let mut ids = HashSet::new();
    for _ in 0..2 {
        let answer = links.create(with_idempotency_key(request.clone(), run)?).await.map_err(SignpostError::from)?;
        ids.insert(answer.into_inner().link.ok_or("no link was answered with")?.id);
    }
    assert_eq!(ids.len(), 1, "a repeated create makes one link");
    created.extend(ids);
    Ok(())
}

async fn list(links: &mut LinksServiceClient<Transport>, run: &str) -> Result<Vec<String>, SignpostError> {
    let request = ListLinksRequest { page_size: 2, search: run.into(), ..Default::default() };
    let mut page_count = 0;
    let mut listed = Vec::new();
    let mut all = items(request, async |request| {
        page_count += 1;
        links.list(request).await
    });
    while let Some(link) = all.next().await? {
        listed.push(link.id);
    }
    assert!(page_count >= 3, "{page_count} pages");
    Ok(listed)
}

async fn errors_are_typed(links: &mut LinksServiceClient<Transport>) {
    let missing = GetLinkRequest { id: "00000000-0000-7000-8000-000000000000".into(), ..Default::default() };
    let error = SignpostError::from(links.get(missing).await.expect_err("there is no such link"));
    assert_eq!((error.code, error.reason.as_str()), (Code::NotFound, "NOT_FOUND"), "{error}");
    assert!(!error.request_id.is_empty());

    let wrong = CreateLinkRequest { destination: "no URL".into(), ..Default::default() };
    let error = SignpostError::from(links.create(wrong).await.expect_err("that is no destination"));
    assert_eq!(error.code, Code::InvalidArgument, "{error}");
    assert_eq!(error.field_violations[0].field, "destination", "{error}");
}
