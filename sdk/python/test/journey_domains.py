"""The steps of the journey about a domain of the workspace's own."""

from google.protobuf.field_mask_pb2 import FieldMask
from signpost import Client, items
from signpost.v1 import custom_domains_service_pb2 as domains
from signpost.v1.custom_domain_pb2 import CustomDomain


def bring_domain(client: Client, run: str) -> None:
    """Registers a name that leads nowhere, reads what is missing, and deletes the domain."""
    stub = client.custom_domains
    made = stub.Create(domains.CreateCustomDomainRequest(name=f"{run}.example.com")).custom_domain
    assert made.status == CustomDomain.STATUS_DOMAIN_PENDING and made.last_error, made
    checked = stub.Check(domains.CheckCustomDomainRequest(id=made.id)).custom_domain
    assert checked.status == made.status, checked
    read = stub.Get(domains.GetCustomDomainRequest(id=made.id)).custom_domain
    assert read.name == made.name, read
    found = items(stub.List, domains.ListCustomDomainsRequest(), lambda page: page.custom_domains)
    assert made.id in [each.id for each in found]
    asked = domains.ValidationInstructionsCustomDomainRequest(id=made.id)
    assert stub.ValidationInstructions(asked).validations[0].name == f"_svc-verify.{made.name}"
    guide = stub.GetSetupGuide(domains.GetCustomDomainSetupGuideRequest(id=made.id)).setup_guide
    assert len(guide.records) == 2, guide
    change = domains.UpdateCustomDomainRequest(
        id=made.id, root_destination="https://example.com/home", update_mask=FieldMask(paths=["root_destination"])
    )
    assert stub.Update(change).custom_domain.root_destination == "https://example.com/home"
    stub.Delete(domains.DeleteCustomDomainRequest(id=made.id))
