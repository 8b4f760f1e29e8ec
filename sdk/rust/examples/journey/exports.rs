use signpost_client::Client;
use signpost_client::v1::{
    CreateExportRequest, DeleteExportRequest, ExportFormat, GetExportRequest, ListExportsRequest,
};

use crate::support::{Outcome, until};

/// Takes the one visit of a link away as a file, and deletes the file.
pub async fn take_away(client: &Client, link_id: &str) -> Outcome<()> {
    let mut calls = client.exports();
    let mut wanted = CreateExportRequest { link_id: link_id.into(), ..Default::default() };
    wanted.set_format(ExportFormat::Csv);
    let id = calls.create(wanted).await?.into_inner().export.unwrap_or_default().id;
    let done = until("the export", async || {
        let made = calls.get(GetExportRequest { id: id.clone() }).await?.into_inner().export.unwrap_or_default();
        Ok(made.completed_at.is_some().then_some(made))
    });
    let done = done.await?;
    assert_eq!(done.row_count, 1);
    assert_ne!(done.download_url, "");
    let mut calls = client.exports();
    let listed = calls.list(ListExportsRequest::default()).await?.into_inner().exports;
    assert!(listed.iter().any(|each| each.id == id), "{listed:?}");
    calls.delete(DeleteExportRequest { id }).await?;
    Ok(())
}
