package main

import (
	"bytes"
	"slices"

	"signpost.example/signpost"
	v1 "signpost.example/signpost/v1"
)

// wearTemplate makes a look, publishes it, gives it to the link, and looks at the link's pages.
func (j journey) wearTemplate(linkID string) {
	calls := j.PageThemeTemplates
	made := must(calls.CreatePageThemeTemplate(j.ctx, &v1.CreatePageThemeTemplateRequest{
		Name: "Journey", Description: "With a badge", Tags: "menu", Styling: &v1.PageThemeStyling{BadgeEnabled: true},
	}))
	id := made.GetPageThemeTemplate().GetId()
	changed := must(calls.UpdatePageThemeTemplate(j.ctx, &v1.UpdatePageThemeTemplateRequest{
		Id: id, Name: "Renamed", Slug: j.run, Tags: "ignored", UpdateMask: mask("name", "slug"),
	})).GetPageThemeTemplate()
	check(changed.GetName() == "Renamed" && changed.GetTags() == "menu", changed)
	must(calls.UpdatePageThemeTemplateStyling(j.ctx, &v1.UpdatePageThemeTemplateStylingRequest{
		Id: id, BodyFont: &v1.FontConfig{FontSize: 20},
	}))
	asked := &v1.GetPageThemeTemplateRequest{Id: id, Include: []string{"pageTheme"}}
	look := must(calls.GetPageThemeTemplate(j.ctx, asked)).GetPageThemeTemplate().GetPageTheme()
	check(look.GetBadgeEnabled() && look.GetBodyFont().GetFontSize() == 20, look)
	own := &v1.ListPageThemeTemplatesRequest{
		Scope: v1.PageThemeTemplateScope_PAGE_THEME_TEMPLATE_SCOPE_WORKSPACE,
	}
	listed := all(signpost.Items(
		j.ctx, calls.ListPageThemeTemplates, own, (*v1.ListPageThemeTemplatesResponse).GetPageThemeTemplates,
	))
	check(slices.ContainsFunc(listed, func(each *v1.PageThemeTemplate) bool { return each.GetId() == id }), listed)
	publication := &v1.PublishPageThemeTemplateRequest{Id: id}
	published := must(calls.PublishPageThemeTemplate(j.ctx, publication)).GetPageThemeTemplate()
	check(published.GetPublishedAt() != nil, published)
	gallery := must(calls.PublicListPageThemeTemplates(j.ctx, &v1.PublicListPageThemeTemplatesRequest{}))
	shown := gallery.GetPageThemeTemplates()[0]
	bySlug := must(calls.PublicGetPageThemeTemplate(j.ctx, &v1.PublicGetPageThemeTemplateRequest{Slug: shown.GetSlug()}))
	check(bySlug.GetPageThemeTemplate().GetName() == shown.GetName(), bySlug)
	images := must(calls.ResolvePageThemeTemplateImages(j.ctx, &v1.ResolvePageThemeTemplateImagesRequest{
		TemplateIds: []string{id},
	})).GetImages()
	check(images[id] != nil, images)
	copied := must(calls.ImportPageThemeTemplate(j.ctx, &v1.ImportPageThemeTemplateRequest{Slug: shown.GetSlug()}))
	copyID := copied.GetPageThemeTemplate().GetId()
	must(calls.DeletePageThemeTemplate(j.ctx, &v1.DeletePageThemeTemplateRequest{Id: copyID}))
	j.wear(linkID, id)
	must(calls.DeletePageThemeTemplate(j.ctx, &v1.DeletePageThemeTemplateRequest{Id: id}))
}

func (j journey) wear(linkID, templateID string) {
	calls := j.PageThemes
	id := must(calls.ApplyTemplate(j.ctx, &v1.ApplyPageThemeTemplateRequest{
		LinkId: linkID, PageThemeTemplateId: templateID,
	})).GetPageTheme().GetId()
	read := must(calls.GetPageTheme(j.ctx, &v1.GetPageThemeRequest{Id: id})).GetPageTheme()
	check(read.GetBodyFont().GetFontSize() == 20, read)
	listed := must(calls.ListPageThemes(j.ctx, &v1.ListPageThemesRequest{})).GetPageThemes()
	check(len(listed) == 1 && listed[0].GetId() == id, listed)
	asked := &v1.FindMatchingPageThemeTemplateRequest{LinkId: linkID}
	matching := must(calls.FindMatchingTemplate(j.ctx, asked))
	check(matching.GetMatched() && matching.GetPageThemeTemplate().GetId() == templateID, matching)
	preview := &v1.PreviewPageThemeRequest{Id: id, Step: "thank-you"}
	page := must(calls.PreviewPageTheme(j.ctx, preview)).GetPage()
	check(bytes.Contains(page.GetData(), []byte("Thank you!")), page)
	smaller := &v1.UpdatePageThemeRequest{Id: id, BodyFont: &v1.FontConfig{FontSize: 18}}
	changed := must(calls.UpdatePageTheme(j.ctx, smaller)).GetPageTheme()
	check(changed.GetBodyFont().GetFontSize() == 18, changed)
	check(!must(calls.FindMatchingTemplate(j.ctx, asked)).GetMatched(), changed)
}
