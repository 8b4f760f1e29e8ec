use signpost_client::Client;
use signpost_client::v1::custom_domain::Status;
use signpost_client::v1::{
    CheckCustomDomainRequest, CreateCustomDomainRequest, DeleteCustomDomainRequest, GetCustomDomainRequest,
    GetCustomDomainSetupGuideRequest, ListCustomDomainsRequest, UpdateCustomDomainRequest,
    ValidationInstructionsCustomDomainRequest,
};

use crate::support::{Outcome, mask};

/// Registers a name that leads nowhere, reads what is missing, and deletes the domain.
pub async fn bring(client: &Client, run: &str) -> Outcome<()> {
    let mut calls = client.custom_domains();
    let wanted = CreateCustomDomainRequest { name: format!("{run}.example.com") };
    let made = calls.create(wanted).await?.into_inner().custom_domain.unwrap_or_default();
    assert_eq!(made.status(), Status::DomainPending);
    assert!(!made.last_error.is_empty());
    let (id, status) = (made.id, made.status);
    let checked = calls.check(CheckCustomDomainRequest { id: id.clone() }).await?.into_inner().custom_domain;
    assert_eq!(checked.unwrap_or_default().status, status);
    let read = calls.get(GetCustomDomainRequest { id: id.clone() }).await?.into_inner().custom_domain;
    assert_eq!(read.unwrap_or_default().name, made.name);
    let listed = calls.list(ListCustomDomainsRequest::default()).await?.into_inner().custom_domains;
    assert!(listed.iter().any(|each| each.id == id), "{listed:?}");
    let asked = ValidationInstructionsCustomDomainRequest { id: id.clone() };
    let records = calls.validation_instructions(asked).await?.into_inner().validations;
    assert_eq!(records[0].name, format!("_svc-verify.{}", made.name));
    let asked = GetCustomDomainSetupGuideRequest { id: id.clone() };
    let guide = calls.get_setup_guide(asked).await?.into_inner().setup_guide.unwrap_or_default();
    assert_eq!(guide.records.len(), 2);
    let change = UpdateCustomDomainRequest {
        id: id.clone(),
        root_destination: "https://example.com/home".into(),
        update_mask: mask(&["root_destination"]),
    };
    let changed = calls.update(change).await?.into_inner().custom_domain.unwrap_or_default();
    assert_eq!(changed.root_destination, "https://example.com/home");
    calls.delete(DeleteCustomDomainRequest { id, ..Default::default() }).await?;
    Ok(())
}
