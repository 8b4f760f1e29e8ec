use signpost_client::v1::{
    CreateBatchLinksRequest, CreateBulkJobRequest, CreateBulkLinksRequest, CreateDirectoryRequest, CreateLinkRequest,
    DeleteDirectoryRequest, DeleteLinkRequest, DeleteTagRequest, GetDirectoryRequest, GetJobRequest,
    ListDirectoriesRequest, ListLinksRequest, ListTagsRequest, UpdateDirectoryRequest,
};
use signpost_client::{Client, items};

use crate::support::{Outcome, reason_of, until};

/// Makes a directory in another, moves it out and deletes the other; returns its id.
pub async fn nest(client: &Client, name: &str) -> Outcome<String> {
    let mut calls = client.directories();
    let campaigns = CreateDirectoryRequest { name: "Campaigns".into(), ..Default::default() };
    let outer_id = calls.create(campaigns).await?.into_inner().directory.unwrap_or_default().id;
    let inner = CreateDirectoryRequest { name: name.into(), parent_directory_id: outer_id.clone() };
    let id = calls.create(inner).await?.into_inner().directory.unwrap_or_default().id;
    let search = ListDirectoriesRequest { search: name.into(), ..Default::default() };
    let mut found = items(search, async |request| calls.list(request).await);
    assert_eq!(found.next().await?.unwrap_or_default().path, format!("Campaigns/{name}"));
    assert!(found.next().await?.is_none());
    let mut calls = client.directories();
    let renamed = UpdateDirectoryRequest { id: outer_id.clone(), name: "Prints".into(), ..Default::default() };
    calls.update(renamed).await?;
    let read = calls.get(GetDirectoryRequest { id: id.clone() }).await?.into_inner().directory.unwrap_or_default();
    assert_eq!(read.path, format!("Prints/{name}"));
    let refused = calls.delete(DeleteDirectoryRequest { id: outer_id.clone() }).await;
    assert_eq!(reason_of(refused), "DIRECTORY_NOT_EMPTY");
    let out = UpdateDirectoryRequest { id: id.clone(), parent_directory_id_delete: true, ..Default::default() };
    let moved = calls.update(out).await?.into_inner().directory.unwrap_or_default();
    assert_eq!(moved.path, name);
    calls.delete(DeleteDirectoryRequest { id: outer_id }).await?;
    Ok(id)
}

/// Makes two links at once in each of three ways, one of them in the directory and with the tag; then deletes all that.
pub async fn make_many_links(client: &Client, tag: &str, directory_id: &str) -> Outcome<()> {
    let mut calls = client.links();
    let plain = ["One", "Two"].map(|name| CreateLinkRequest {
        destination: "https://example.com/many".into(),
        name: name.into(),
        ..Default::default()
    });
    let tagged = plain.clone().map(|link| CreateLinkRequest {
        directory_id: directory_id.into(),
        tags: vec![tag.into()],
        ..link
    });
    let batch = calls.create_batch(CreateBatchLinksRequest { links: plain.to_vec() }).await?.into_inner().links;
    let bulk = calls.create_bulk(CreateBulkLinksRequest { links: tagged.to_vec() }).await?.into_inner().links;
    let filed: Vec<_> = bulk.iter().map(|link| (&*link.name, &*link.directory_id, &*link.tags[0].name)).collect();
    assert_eq!(filed, [("One", directory_id, tag), ("Two", directory_id, tag)]);
    let started = calls.create_bulk_job(CreateBulkJobRequest { links: plain.to_vec() }).await?.into_inner();
    let id = started.job.unwrap_or_default().id;
    let made = until("the job's links", async || {
        let job = client.jobs().get(GetJobRequest { id: id.clone() }).await?.into_inner().job.unwrap_or_default();
        assert_eq!(job.error, None);
        Ok(job.links_bulk_create)
    })
    .await?;
    assert_eq!(made.link_ids.len(), plain.len());

    delete_tag(client, tag).await?;
    let link_ids = batch.into_iter().chain(bulk).map(|link| link.id).chain(made.link_ids);
    for id in link_ids {
        calls.delete(DeleteLinkRequest { id }).await?;
    }
    client.directories().delete(DeleteDirectoryRequest { id: directory_id.into() }).await?;
    Ok(())
}

async fn delete_tag(client: &Client, name: &str) -> Outcome<()> {
    let mut calls = client.tags();
    let search = ListTagsRequest { search: name.into(), ..Default::default() };
    let mut found = items(search, async |request| calls.list(request).await);
    assert_eq!(found.next().await?.unwrap_or_default().name, name);
    assert!(found.next().await?.is_none());
    client.tags().delete(DeleteTagRequest { name: name.into() }).await?;
    let tagged = ListLinksRequest { tags: vec![name.into()], ..Default::default() };
    assert!(client.links().list(tagged).await?.into_inner().links.is_empty());
    Ok(())
}
