// Journey walks through every group of the service at SIGNPOST_URL, with SIGNPOST_TOKEN, by the steps of sdk/JOURNEY.md, and
// ends with an error when an answer is not as it should be.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"signpost.example/signpost"
	options "signpost.example/signpost/options/v1"
	v1 "signpost.example/signpost/v1"
)

// journey is what all steps share.
type journey struct {
	*signpost.Client
	ctx context.Context
	run string
}

func main() {
	client := signpost.NewClient(os.Getenv("SIGNPOST_URL"), os.Getenv("SIGNPOST_TOKEN"))
	run := "journey-" + strings.ToLower(rand.Text())
	here := journey{client, context.Background(), run}
	here.walk()
	fmt.Println("go: walked the journey")
}

func (j journey) walk() {
	scopes := must(j.ApiScopes.List(j.ctx, &v1.ListApiScopesRequest{})).GetScopes()
	check(slices.ContainsFunc(scopes, func(each *v1.ApiScopeInfo) bool {
		return each.GetScope() == options.ApiScope_API_SCOPE_LINKS_READ
	}), scopes)
	j.openWorkspace()
	templateID := j.makeTemplate()
	j.keepMedia()
	link := j.makeLink(templateID)
	j.restyle(link)
	j.wearTemplate(link.GetId())
	lbid := j.visit(link)
	j.analyse(link)
	j.present(link.GetId())
	j.takeAway(link.GetId())
	j.subscribe()
	j.bringDomain()
	j.askForSlack()
	j.askAssistant(link.GetId())
	j.askForForms()
	j.expire()
	j.tellVisitors(lbid)
	j.wire(link.GetId())
	j.delegate()
	directoryID := j.nestDirectories()
	j.makeManyLinks(directoryID)
	j.signIn()
	j.invite()
	j.claimAsPerson()
	j.playInSandbox()
	must(j.Links.Delete(j.ctx, &v1.DeleteLinkRequest{Id: link.GetId()}))
	must(j.QrcodeTemplates.DeleteQrcodeTemplate(j.ctx, &v1.DeleteQrcodeTemplateRequest{Id: templateID}))
	j.closeWorkspace()
}

func (j journey) makeTemplate() string {
	calls := j.QrcodeTemplates
	rounded := &v1.DotsOptions{Type: v1.DotsType_DOTS_TYPE_ROUNDED}
	design := must(j.QrcodeDesign.PublicCreate(j.ctx, &v1.PublicCreateQrcodeDesignRequest{DotsOptions: rounded}))
	made := must(calls.CreateQrcodeTemplate(j.ctx, &v1.CreateQrcodeTemplateRequest{
		Name: "Journey", Description: "Round dots", Tags: "menu", QrcodeDesignId: design.GetQrcodeDesign().GetId(),
	}))
	id := made.GetQrcodeTemplate().GetId()
	read := must(calls.GetQrcodeTemplate(j.ctx, &v1.GetQrcodeTemplateRequest{Id: id, Include: []string{"qrcodeDesign"}}))
	check(proto.Equal(read.GetQrcodeTemplate().GetQrcodeDesign().GetDotsOptions(), rounded), read)
	changed := must(calls.UpdateQrcodeTemplate(j.ctx, &v1.UpdateQrcodeTemplateRequest{
		Id: id, Name: "Renamed", Slug: j.run, Tags: "ignored", UpdateMask: mask("name", "slug"),
	})).GetQrcodeTemplate()
	check(changed.GetName() == "Renamed" && changed.GetTags() == "menu", changed)
	own := &v1.ListQrcodeTemplatesRequest{Scope: v1.QrcodeTemplateScope_QRCODE_TEMPLATE_SCOPE_WORKSPACE}
	listed := all(signpost.Items(j.ctx, calls.ListQrcodeTemplates, own, (*v1.ListQrcodeTemplatesResponse).GetQrcodeTemplates))
	check(slices.ContainsFunc(listed, func(each *v1.QrcodeTemplate) bool { return each.GetId() == id }), listed)
	published := must(calls.PublishQrcodeTemplate(j.ctx, &v1.PublishQrcodeTemplateRequest{Id: id})).GetQrcodeTemplate()
	check(published.GetPublishedAt() != nil, published)
	shown := must(calls.PublicListQrcodeTemplates(j.ctx, &v1.PublicListQrcodeTemplatesRequest{})).GetQrcodeTemplates()[0]
	bySlug := must(calls.PublicGetQrcodeTemplate(j.ctx, &v1.PublicGetQrcodeTemplateRequest{Slug: shown.GetSlug()}))
	check(bySlug.GetQrcodeTemplate().GetName() == shown.GetName(), bySlug)
	until("a thumbnail", func() bool {
		images := &v1.ResolveQrcodeTemplateImagesRequest{TemplateIds: []string{id}}
		return must(calls.ResolveQrcodeTemplateImages(j.ctx, images)).GetThumbnailSignedUrls()[id] != ""
	})
	copied := must(calls.ImportQrcodeTemplate(j.ctx, &v1.ImportQrcodeTemplateRequest{Slug: shown.GetSlug()}))
	copyID := copied.GetQrcodeTemplate().GetId()
	must(calls.DeleteQrcodeTemplate(j.ctx, &v1.DeleteQrcodeTemplateRequest{Id: copyID}))
	return id
}

func (j journey) keepMedia() {
	made := must(j.Media.Create(j.ctx, &v1.CreateMediaRequest{
		FileData: pictureBytes(), MediaType: v1.Media_TYPE_BADGE, FileName: "badge.png",
	}))
	id := made.GetMedia().GetId()
	read := must(j.Media.Get(j.ctx, &v1.GetMediaRequest{Id: id})).GetMedia()
	check(read.GetMimeType() == "image/png", read)
	listed := all(signpost.Items(j.ctx, j.Media.List, &v1.ListMediaRequest{}, (*v1.ListMediaResponse).GetMedia))
	check(slices.ContainsFunc(listed, func(each *v1.Media) bool { return each.GetId() == id }), listed)
	must(j.Media.Delete(j.ctx, &v1.DeleteMediaRequest{Id: id}))
}

func (j journey) makeLink(templateID string) *v1.Link {
	calls := j.Links
	shortlink := must(calls.ShortlinkRandom(j.ctx, &v1.ShortlinkRandomRequest{})).GetShortlink()
	check(must(calls.ShortlinkAvailability(j.ctx, &v1.ShortlinkAvailabilityRequest{Shortlink: shortlink})).GetAvailable())
	made := must(calls.Create(j.ctx, &v1.CreateLinkRequest{
		Destination: "https://example.com/menu", Shortlink: shortlink, QrcodeTemplateId: templateID,
		Name: "Menu", Purpose: "sales leads", Tags: []string{j.run}, Metadata: map[string]string{"table": "7"},
		ConversionTracking: true, ExpiresAt: timestamppb.New(time.Now().Add(24 * time.Hour)), WaitForQrcode: true,
	})).GetLink()
	include := []string{"tags", "qrcodeDesign"}
	read := must(calls.Get(j.ctx, &v1.GetLinkRequest{Id: made.GetId(), Include: include})).GetLink()
	check(read.GetMetadata()["table"] == "7" && read.GetTags()[0].GetName() == j.run, read)
	check(read.GetQrcodeDesign().GetDotsOptions().GetType() == v1.DotsType_DOTS_TYPE_ROUNDED, read)
	link := must(calls.Update(j.ctx, &v1.UpdateLinkRequest{
		Id: made.GetId(), Name: "Lunch", Tags: []string{j.run, "lunch"}, ExpiresAtDelete: true,
	})).GetLink()
	check(link.GetName() == "Lunch" && link.GetExpiresAt() == nil, link)

	card := &v1.VCardPayload{FirstName: "Ada", LastName: "Lovelace", Phone: "+15551234567"}
	contact := must(calls.CreateContactLink(j.ctx, &v1.CreateContactLinkRequest{VcardData: card, Name: "Ada", Tags: []string{j.run}}))
	thanks := must(calls.CreateThankYouLink(j.ctx, &v1.CreateThankYouLinkRequest{Title: "Thank you", Name: "Thanks", Tags: []string{j.run}}))
	var names []string
	request := &v1.ListLinksRequest{Tags: []string{j.run}, PageSize: 2}
	for _, each := range all(signpost.Items(j.ctx, calls.List, request, (*v1.ListLinksResponse).GetLinks)) {
		names = append(names, each.GetName())
	}
	check(slices.Equal(names, []string{"Thanks", "Ada", "Lunch"}), names)
	ids := []string{contact.GetLink().GetId(), thanks.GetLink().GetId(), link.GetId()}
	until("every image", func() bool {
		images := must(calls.ResolveQrcodeImages(j.ctx, &v1.ResolveQrcodeImagesRequest{LinkIds: ids}))
		return len(images.GetQrcodeSignedUrls()) == len(ids)
	})
	for _, id := range ids[:2] {
		must(calls.Delete(j.ctx, &v1.DeleteLinkRequest{Id: id}))
	}
	gone := reasonOf(calls.Get(j.ctx, &v1.GetLinkRequest{Id: thanks.GetLink().GetId()}))
	check(gone == "NOT_FOUND", gone)
	return link
}

func (j journey) restyle(link *v1.Link) {
	calls, id := j.QrcodeDesign, link.GetQrcodeDesignId()
	expected := must(calls.Get(j.ctx, &v1.GetQrcodeDesignRequest{Id: id})).GetQrcodeDesign().GetDotsOptions()
	expected.Type = v1.DotsType_DOTS_TYPE_DOTS
	changed := must(calls.Update(j.ctx, &v1.UpdateQrcodeDesignRequest{
		Id: id, DotsOptions: &v1.DotsOptions{Type: v1.DotsType_DOTS_TYPE_DOTS}, UpdateMask: mask("dots_options.type"),
	})).GetQrcodeDesign()
	check(proto.Equal(changed.GetDotsOptions(), expected), changed)
	check(must(calls.Verify(j.ctx, &v1.VerifyQrcodeDesignRequest{Id: id})).GetScannability().GetReadable())
	applied := must(calls.ApplyTemplate(j.ctx, &v1.ApplyQrcodeTemplateRequest{
		LinkId: link.GetId(), QrcodeTemplateId: link.GetQrcodeTemplateId(),
	})).GetQrcodeDesign()
	check(applied.GetDotsOptions().GetType() == v1.DotsType_DOTS_TYPE_ROUNDED, applied)
	unused := must(calls.PublicCreate(j.ctx, &v1.PublicCreateQrcodeDesignRequest{})).GetQrcodeDesign()
	must(calls.Delete(j.ctx, &v1.DeleteQrcodeDesignRequest{Id: unused.GetId()}))
}

func mask(paths ...string) *fieldmaskpb.FieldMask {
	return &fieldmaskpb.FieldMask{Paths: paths}
}

func object(values map[string]any) *structpb.Struct {
	return must(structpb.NewStruct(values))
}
