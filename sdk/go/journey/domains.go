package main

import (
	"slices"

	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"signpost.example/signpost"
	v1 "signpost.example/signpost/v1"
)

// bringDomain registers a name that leads nowhere, reads what is missing, and deletes the domain.
func (j journey) bringDomain() {
	calls := j.CustomDomains
	made := must(calls.Create(j.ctx, &v1.CreateCustomDomainRequest{Name: j.run + ".example.com"})).GetCustomDomain()
	check(made.GetStatus() == v1.CustomDomain_STATUS_DOMAIN_PENDING && made.GetLastError() != "", made)
	id := made.GetId()
	checked := must(calls.Check(j.ctx, &v1.CheckCustomDomainRequest{Id: id})).GetCustomDomain()
	check(checked.GetStatus() == made.GetStatus(), checked)
	read := must(calls.Get(j.ctx, &v1.GetCustomDomainRequest{Id: id})).GetCustomDomain()
	check(read.GetName() == made.GetName(), read)
	every := &v1.ListCustomDomainsRequest{}
	found := all(signpost.Items(j.ctx, calls.List, every, (*v1.ListCustomDomainsResponse).GetCustomDomains))
	check(slices.ContainsFunc(found, func(each *v1.CustomDomain) bool { return each.GetId() == id }), found)
	asked := &v1.ValidationInstructionsCustomDomainRequest{Id: id}
	records := must(calls.ValidationInstructions(j.ctx, asked)).GetValidations()
	check(records[0].GetName() == "_svc-verify."+made.GetName(), records)
	guide := must(calls.GetSetupGuide(j.ctx, &v1.GetCustomDomainSetupGuideRequest{Id: id})).GetSetupGuide()
	check(len(guide.GetRecords()) == 2, guide)
	changed := must(calls.Update(j.ctx, &v1.UpdateCustomDomainRequest{
		Id:              id,
		RootDestination: "https://example.com/home",
		UpdateMask:      &fieldmaskpb.FieldMask{Paths: []string{"root_destination"}},
	})).GetCustomDomain()
	check(changed.GetRootDestination() == "https://example.com/home", changed)
	must(calls.Delete(j.ctx, &v1.DeleteCustomDomainRequest{Id: id}))
}
