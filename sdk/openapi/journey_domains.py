"""The steps of the journey about a domain of the workspace's own."""

import openapi_client as signpost


def bring_domain(calls: signpost.CustomDomainsApi, run: str) -> None:
    """Registers a name that leads nowhere, reads what is missing, and deletes the domain."""
    wanted = signpost.CreateCustomDomainRequest(name=f"{run}.example.com")
    made = calls.custom_domains_service_create(wanted).custom_domain
    assert made.status == signpost.CustomDomainStatus.CUSTOM_DOMAIN_STATUS_DOMAIN_PENDING and made.last_error, made
    assert calls.custom_domains_service_check(made.id).custom_domain.status == made.status
    assert calls.custom_domains_service_get(made.id).custom_domain.name == made.name
    assert made.id in [each.id for each in calls.custom_domains_service_list().custom_domains]
    validations = calls.custom_domains_service_validation_instructions(made.id).validations
    assert validations[0].name == f"_svc-verify.{made.name}", validations
    assert len(calls.custom_domains_service_get_setup_guide(made.id).setup_guide.records) == 2
    change = signpost.UpdateCustomDomainRequest(rootDestination="https://example.com/home")
    changed = calls.custom_domains_service_update(made.id, update_custom_domain_request=change).custom_domain
    assert changed.root_destination == "https://example.com/home", changed
    calls.custom_domains_service_delete(made.id)
