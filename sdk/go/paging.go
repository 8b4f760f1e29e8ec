package signpost

import (
	"context"
	"iter"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Paged is a request of a list call.
type Paged interface {
	proto.Message
	GetPageToken() string
}

// Pages calls any list call until its last page or an error:
//
//	for page, err := range signpost.Pages(ctx, client.Links.List, &v1.ListLinksRequest{PageSize: 50}) {
//
// It starts at the request's own page token, if there is one.
func Pages[Request Paged, Answer proto.Message](
	ctx context.Context,
	list func(context.Context, Request) (Answer, error),
	request Request,
) iter.Seq2[Answer, error] {
	return func(yield func(Answer, error) bool) {
		next := proto.CloneOf(request)
		for {
			page, err := list(ctx, next)
			if err != nil {
				yield(page, err)
				return
			}
			token := nextPageToken(page.ProtoReflect())
			if !yield(page, nil) || token == "" {
				return
			}
			next.ProtoReflect().Set(fieldOf(next.ProtoReflect(), "page_token"), protoreflect.ValueOfString(token))
		}
	}
}

// Items yields all records of a list call, page after page:
//
//	signpost.Items(ctx, client.Links.List, &v1.ListLinksRequest{}, (*v1.ListLinksResponse).GetLinks)
func Items[Request Paged, Answer proto.Message, Item any](
	ctx context.Context,
	list func(context.Context, Request) (Answer, error),
	request Request,
	pick func(Answer) []Item,
) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for page, err := range Pages(ctx, list, request) {
			if err != nil {
				var none Item
				yield(none, err)
				return
			}
			for _, item := range pick(page) {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

// The token is in the answer, or in the part of it for the requested format.
func nextPageToken(page protoreflect.Message) string {
	if field := fieldOf(page, "next_page_token"); field != nil {
		return page.Get(field).String()
	}
	for _, form := range []protoreflect.Name{"json", "csv"} {
		if field := fieldOf(page, form); field != nil && page.Has(field) {
			return nextPageToken(page.Get(field).Message())
		}
	}
	return ""
}

func fieldOf(message protoreflect.Message, name protoreflect.Name) protoreflect.FieldDescriptor {
	return message.Descriptor().Fields().ByName(name)
}
