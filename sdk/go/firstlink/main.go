// Firstlink runs the example of the READMEs on the service at SIGNPOST_URL, with SIGNPOST_TOKEN. It leaves no link
// behind.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"signpost.example/signpost"
	v1 "signpost.example/signpost/v1"
)

var errChooseAnother = errors.New("choose another short link")

func main() {
	if err := run(context.Background(), os.Getenv("SIGNPOST_URL"), os.Getenv("SIGNPOST_TOKEN")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, url, token string) error {
	client := signpost.NewClient(url, token)
	created, err := client.Links.Create(ctx, &v1.CreateLinkRequest{Destination: "https://example.com/menu", Name: "Menu"})
	if err != nil {
		return err
	}
	for link, err := range signpost.Items(ctx, client.Links.List, &v1.ListLinksRequest{Search: "menu"}, (*v1.ListLinksResponse).GetLinks) {
		if err != nil {
			return err
		}
		fmt.Println(link.GetEntrypoint())
	}

	if err := take(ctx, client, created.GetLink().GetShortlink()); !errors.Is(err, errChooseAnother) {
		return fmt.Errorf("a short link that is taken answers %v", err)
	}
	_, err = client.Links.Delete(ctx, &v1.DeleteLinkRequest{Id: created.GetLink().GetId()})
	return err
}

func take(ctx context.Context, client *signpost.Client, shortlink string) error {
	request := &v1.CreateLinkRequest{Destination: "https://example.com/menu", Shortlink: shortlink}
	_, err := client.Links.Create(ctx, request)
	var refused *signpost.Error
	if errors.As(err, &refused) && refused.Reason == "SHORTLINK_TAKEN" {
		return errChooseAnother
	}
	return err
}
