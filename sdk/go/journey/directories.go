package main

import (
	"slices"

	"signpost.example/signpost"
	v1 "signpost.example/signpost/v1"
)

// nestDirectories makes a directory in another, moves it out and deletes the other. It returns its id.
func (j journey) nestDirectories() string {
	calls := j.Directories
	outer := must(calls.Create(j.ctx, &v1.CreateDirectoryRequest{Name: "Campaigns"})).GetDirectory().GetId()
	inner := &v1.CreateDirectoryRequest{Name: j.run, ParentDirectoryId: outer}
	id := must(calls.Create(j.ctx, inner)).GetDirectory().GetId()
	search := &v1.ListDirectoriesRequest{Search: j.run}
	found := all(signpost.Items(j.ctx, calls.List, search, (*v1.ListDirectoriesResponse).GetDirectories))
	check(len(found) == 1 && found[0].GetPath() == "Campaigns/"+j.run, found)
	must(calls.Update(j.ctx, &v1.UpdateDirectoryRequest{Id: outer, Name: "Prints"}))
	read := must(calls.Get(j.ctx, &v1.GetDirectoryRequest{Id: id})).GetDirectory()
	check(read.GetPath() == "Prints/"+j.run, read)
	reason := reasonOf(calls.Delete(j.ctx, &v1.DeleteDirectoryRequest{Id: outer}))
	check(reason == "DIRECTORY_NOT_EMPTY", reason)
	out := &v1.UpdateDirectoryRequest{Id: id, ParentDirectoryIdDelete: true}
	moved := must(calls.Update(j.ctx, out)).GetDirectory()
	check(moved.GetPath() == j.run, moved)
	must(calls.Delete(j.ctx, &v1.DeleteDirectoryRequest{Id: outer}))
	return id
}

// makeManyLinks makes two links at once in each of three ways, one of them in the directory and with a tag; then it deletes all
// that.
func (j journey) makeManyLinks(directoryID string) {
	calls := j.Links
	two := func(directoryID string, tags ...string) (wanted []*v1.CreateLinkRequest) {
		for _, name := range []string{"One", "Two"} {
			wanted = append(wanted, &v1.CreateLinkRequest{
				Destination: "https://example.com/many", Name: name, DirectoryId: directoryID, Tags: tags,
			})
		}
		return wanted
	}
	made := must(calls.CreateBatch(j.ctx, &v1.CreateBatchLinksRequest{Links: two("")})).GetLinks()
	bulk := must(calls.CreateBulk(j.ctx, &v1.CreateBulkLinksRequest{Links: two(directoryID, j.run)})).GetLinks()
	for _, link := range bulk {
		check(link.GetDirectoryId() == directoryID && link.GetTags()[0].GetName() == j.run, link)
	}
	check(len(bulk) == 2 && bulk[0].GetName() == "One" && bulk[1].GetName() == "Two", bulk)
	job := must(calls.CreateBulkJob(j.ctx, &v1.CreateBulkJobRequest{Links: two("")})).GetJob()
	until("the job's links", func() bool {
		job = must(j.Jobs.Get(j.ctx, &v1.GetJobRequest{Id: job.GetId()})).GetJob()
		check(job.GetError() == nil, job)
		return job.GetLinksBulkCreate() != nil
	})
	ids := job.GetLinksBulkCreate().GetLinkIds()
	check(len(ids) == 2, ids)

	search := &v1.ListTagsRequest{Search: j.run}
	found := all(signpost.Items(j.ctx, j.Tags.List, search, (*v1.ListTagsResponse).GetTags))
	check(len(found) == 1 && found[0].GetName() == j.run, found)
	must(j.Tags.Delete(j.ctx, &v1.DeleteTagRequest{Name: j.run}))
	tagged := must(calls.List(j.ctx, &v1.ListLinksRequest{Tags: []string{j.run}})).GetLinks()
	check(len(tagged) == 0, tagged)
	for _, link := range slices.Concat(made, bulk) {
		ids = append(ids, link.GetId())
	}
	for _, id := range ids {
		must(calls.Delete(j.ctx, &v1.DeleteLinkRequest{Id: id}))
	}
	must(j.Directories.Delete(j.ctx, &v1.DeleteDirectoryRequest{Id: directoryID}))
}
