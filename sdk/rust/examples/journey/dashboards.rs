use signpost_client::Client;
use signpost_client::v1::{
    CreateDashboardRequest, DashboardConfig, DeleteDashboardRequest, ListDashboardsRequest, UpdateDashboardRequest,
};

use crate::support::{Outcome, mask, reason_of};

/// Makes a dashboard of a link, and deletes it.
pub async fn present(client: &Client, link_id: &str) -> Outcome<()> {
    let mut calls = client.analytics_dashboard();
    let wanted = CreateDashboardRequest {
        link_id: link_id.into(),
        name: "Menu".into(),
        use_default_widgets: true,
        ..Default::default()
    };
    let made = calls.create_dashboard(wanted).await?.into_inner().dashboard.unwrap_or_default();
    let widgets = made.config.unwrap_or_default().widgets;
    assert_ne!(widgets.len(), 0);
    let again = CreateDashboardRequest { link_id: link_id.into(), ..Default::default() };
    assert_eq!(reason_of(calls.create_dashboard(again).await), "DASHBOARD_EXISTS");
    let masked = UpdateDashboardRequest {
        id: made.id.clone(),
        name: "Visits".into(),
        config: Some(DashboardConfig::default()),
        update_mask: mask(&["name"]),
    };
    let renamed = calls.update_dashboard(masked).await?.into_inner().dashboard.unwrap_or_default();
    assert_eq!((&*renamed.name, renamed.config.unwrap_or_default().widgets.len()), ("Visits", widgets.len()));
    let of_link = ListDashboardsRequest { link_id: link_id.into(), ..Default::default() };
    let listed = calls.list_dashboards(of_link).await?.into_inner().dashboards;
    assert_eq!(listed.iter().map(|each| &each.id).collect::<Vec<_>>(), [&made.id]);
    calls.delete_dashboard(DeleteDashboardRequest { id: made.id }).await?;
    Ok(())
}
