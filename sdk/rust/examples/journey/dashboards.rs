use signpost_client::Client;
use signpost_client::v1::{
    CreateDashboardRequest, DashboardConfig, DeleteDashboardRequest, GenerateWidgetSummaryRequest,
    GetWidgetPictureRequest, GetWidgetSummaryRequest, ListDashboardsRequest, UpdateDashboardRequest,
};

use crate::support::{Outcome, mask, reason_of};

/// Makes a dashboard of a link, draws and sums up one of its widgets, and deletes it.
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
    show_widget(client, &made.id, &widgets[0].id).await?;
    calls.delete_dashboard(DeleteDashboardRequest { id: made.id }).await?;
    Ok(())
}

async fn show_widget(client: &Client, dashboard_id: &str, widget_id: &str) -> Outcome<()> {
    let mut calls = client.analytics_dashboard();
    let (dashboard_id, widget_id) = (dashboard_id.to_owned(), widget_id.to_owned());
    let picture = GetWidgetPictureRequest {
        dashboard_id: dashboard_id.clone(),
        picture: format!("{widget_id}.svg"),
        ..Default::default()
    };
    let drawn = calls.get_widget_picture(picture).await?.into_inner().image.unwrap_or_default();
    assert_eq!(drawn.content_type, "image/svg+xml");
    let asked = GenerateWidgetSummaryRequest {
        dashboard_id: dashboard_id.clone(),
        widget_id: widget_id.clone(),
        ..Default::default()
    };
    let written = calls.generate_widget_summary(asked).await?.into_inner().result.unwrap_or_default();
    assert_ne!(written.text, "");
    let stored = GetWidgetSummaryRequest { dashboard_id, widget_id };
    let read = calls.get_widget_summary(stored).await?.into_inner().result.unwrap_or_default();
    assert_eq!(read.text, written.text);
    Ok(())
}
