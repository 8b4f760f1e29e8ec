// Smoke tests the package on the service at SIGNPOST_URL, with SIGNPOST_TOKEN. It ends with an error when a check
// fails.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"

	"connectrpc.com/connect"
	"signpost.example/signpost"
	v1 "signpost.example/signpost/v1"
)

func main() {
	client := signpost.NewClient(os.Getenv("SIGNPOST_URL"), os.Getenv("SIGNPOST_TOKEN"))
	tag := "smoke-" + rand.Text()
	for _, try := range []func(context.Context, *signpost.Client, string) error{createAndPage, refuse, repeat} {
		if err := try(context.Background(), client, tag); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	fmt.Println("go: created, paged, refused and repeated as expected")
}

func createAndPage(ctx context.Context, client *signpost.Client, tag string) error {
	for _, name := range []string{"one", "two", "three", "four", "five"} {
		request := &v1.CreateLinkRequest{Destination: "https://example.com/menu", Name: name, Tags: []string{tag}}
		if _, err := client.Links.Create(ctx, request); err != nil {
			return fmt.Errorf("create: %w", err)
		}
	}
	request := &v1.ListLinksRequest{PageSize: 2, Tags: []string{tag}}
	var sizes []int
	for page, err := range signpost.Pages(ctx, client.Links.List, request) {
		if err != nil {
			return fmt.Errorf("pages: %w", err)
		}
		sizes = append(sizes, len(page.GetLinks()))
	}
	if !slices.Equal(sizes, []int{2, 2, 1}) {
		return fmt.Errorf("pages of %v", sizes)
	}
	var names []string
	for link, err := range signpost.Items(ctx, client.Links.List, request, (*v1.ListLinksResponse).GetLinks) {
		if err != nil {
			return fmt.Errorf("items: %w", err)
		}
		names = append(names, link.GetName())
		if _, err := client.Links.Delete(ctx, &v1.DeleteLinkRequest{Id: link.GetId()}); err != nil {
			return fmt.Errorf("delete: %w", err)
		}
	}
	if !slices.Equal(names, []string{"five", "four", "three", "two", "one"}) {
		return fmt.Errorf("links %v", names)
	}
	return nil
}

func refuse(ctx context.Context, client *signpost.Client, _ string) error {
	_, err := client.Links.Get(ctx, &v1.GetLinkRequest{Id: "00000000-0000-7000-8000-000000000000"})
	var missing *signpost.Error
	if !errors.As(err, &missing) || missing.Code != connect.CodeNotFound || missing.Reason != "NOT_FOUND" || missing.RequestID == "" {
		return fmt.Errorf("a missing link answers %v", err)
	}
	_, err = client.Links.Create(ctx, &v1.CreateLinkRequest{})
	var refused *signpost.Error
	if !errors.As(err, &refused) || refused.Code != connect.CodeInvalidArgument {
		return fmt.Errorf("an empty destination answers %v", err)
	}
	if len(refused.FieldViolations) != 1 || refused.FieldViolations[0].Field != "destination" {
		return fmt.Errorf("an empty destination names %v", refused.FieldViolations)
	}
	_, err = signpost.NewClient(os.Getenv("SIGNPOST_URL"), "wrong").Links.List(ctx, &v1.ListLinksRequest{})
	if connect.CodeOf(err) != connect.CodeUnauthenticated {
		return fmt.Errorf("a wrong token answers %v", err)
	}
	return nil
}

func repeat(ctx context.Context, client *signpost.Client, tag string) error {
	tags := []string{tag + "-1"}
	once := signpost.WithIdempotencyKey(ctx, rand.Text())
	request := &v1.CreateLinkRequest{Destination: "https://example.com/once", Tags: tags}
	first, err := client.Links.Create(once, request)
	if err != nil {
		return fmt.Errorf("first: %w", err)
	}
	again, err := client.Links.Create(once, request)
	if err != nil {
		return fmt.Errorf("again: %w", err)
	}
	list, err := client.Links.List(ctx, &v1.ListLinksRequest{Tags: tags})
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	if first.GetLink().GetId() != again.GetLink().GetId() || list.GetTotalCount() != 1 {
		return fmt.Errorf("a repeated key made %d links", list.GetTotalCount())
	}
	_, err = client.Links.Delete(ctx, &v1.DeleteLinkRequest{Id: first.GetLink().GetId()})
	return err
}
