// Tests the Go client that openapi-generator makes, on the service at SIGNPOST_URL with SIGNPOST_TOKEN.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	signpost "signpost.example/generated/client"
)

func main() {
	configuration := signpost.NewConfiguration()
	configuration.Servers = signpost.ServerConfigurations{{URL: os.Getenv("SIGNPOST_URL")}}
	client := signpost.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), signpost.ContextAccessToken, os.Getenv("SIGNPOST_TOKEN"))
	if err := try(ctx, client); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func try(ctx context.Context, client *signpost.APIClient) error {
	tag := fmt.Sprintf("generated-go-%d", os.Getpid())
	request := signpost.NewCreateLinkRequest("https://example.com/menu")
	request.SetName("Menu")
	request.SetTags([]string{tag})
	created, _, err := client.LinksAPI.LinksServiceCreate(ctx).CreateLinkRequest(*request).Execute()
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	id := created.GetLink().Id
	listed, _, err := client.LinksAPI.LinksServiceList(ctx).Tags([]string{tag}).Execute()
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	if len(listed.Links) != 1 || listed.Links[0].Id != id {
		return fmt.Errorf("list: found %v", listed.Links)
	}
	if err := wire(ctx, client, id, created.WorkflowSteps[1].Id); err != nil {
		return err
	}
	if err := refuse(ctx, client); err != nil {
		return err
	}
	_, _, err = client.LinksAPI.LinksServiceDelete(ctx, id).Execute()
	return err
}

func wire(ctx context.Context, client *signpost.APIClient, linkID, exitID string) error {
	page := signpost.NewMessagePagePayload("Welcome", signpost.MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON)
	payload := signpost.NewWorkflowStepPayload()
	payload.SetMessagePage(*page)
	request := signpost.NewCreateWorkflowStepRequest(signpost.EVENT_ACTION_MESSAGE_PAGE)
	request.SetPayload(*payload)
	added, _, err := client.WorkflowStepsAPI.WorkflowStepsServiceCreate(ctx, linkID).CreateWorkflowStepRequest(*request).Execute()
	if err != nil {
		return fmt.Errorf("add a step: %w", err)
	}
	connection := *signpost.NewConnectWorkflowStepRequest(exitID)
	connected, _, err := client.WorkflowStepsAPI.
		WorkflowStepsServiceConnectStep(ctx, linkID, added.GetWorkflowStep().Id, "next").
		ConnectWorkflowStepRequest(connection).Execute()
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	if next := connected.GetWorkflowStep().Branches[0].NextStepId; next != exitID {
		return fmt.Errorf("connect: leads to %q", next)
	}
	return nil
}

func refuse(ctx context.Context, client *signpost.APIClient) error {
	_, _, err := client.LinksAPI.LinksServiceGet(ctx, "0198f0c2-7d3a-7c55-9b1e-3f6a2d4c8e10").Execute()
	var refused *signpost.GenericOpenAPIError
	if !errors.As(err, &refused) {
		return fmt.Errorf("an unknown link was answered with %v", err)
	}
	response, isTyped := refused.Model().(signpost.ErrorResponse)
	if !isTyped || response.Error.CodeType != signpost.NOT_FOUND {
		return fmt.Errorf("an unknown link was refused with %v", refused.Model())
	}
	if info := response.Error.Details[0].ErrorInfo; info == nil || info.Reason != signpost.NOT_FOUND {
		return fmt.Errorf("its first detail is %v", response.Error.Details[0])
	}
	return nil
}
