package main

import (
	"io"
	"net/http"
	"slices"

	v1 "signpost.example/signpost/v1"
)

// takeAway takes the one visit of a link away as a file, and deletes the file.
func (j journey) takeAway(linkID string) {
	calls := j.Exports
	wanted := &v1.CreateExportRequest{Format: v1.ExportFormat_EXPORT_FORMAT_CSV, LinkId: linkID}
	done := must(calls.Create(j.ctx, wanted)).GetExport()
	id := done.GetId()
	until("the export", func() bool {
		done = must(calls.Get(j.ctx, &v1.GetExportRequest{Id: id})).GetExport()
		return done.GetCompletedAt() != nil
	})
	check(done.GetRowCount() == 1, done)
	file := must(http.Get(done.GetDownloadUrl()))
	defer file.Body.Close()
	check(int64(len(must(io.ReadAll(file.Body)))) == done.GetSize(), done)
	listed := must(calls.List(j.ctx, &v1.ListExportsRequest{})).GetExports()
	check(slices.ContainsFunc(listed, func(each *v1.Export) bool { return each.GetId() == id }), listed)
	must(calls.Delete(j.ctx, &v1.DeleteExportRequest{Id: id}))
}
