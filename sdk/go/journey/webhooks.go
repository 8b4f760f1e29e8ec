package main

import (
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	v1 "signpost.example/signpost/v1"
)

// subscribe has messages sent to an address that is not there, sends them again, and deletes the webhook.
func (j journey) subscribe() {
	calls := j.Webhooks
	since := timestamppb.New(time.Now().Add(-10 * time.Minute))
	wrong := &v1.CreateWebhookRequest{Name: "Journey", EndpointUrl: "https://10.0.0.1/hooks"}
	reason := reasonOf(calls.Create(j.ctx, wrong))
	check(reason == "INVALID_ENDPOINT_URL", reason)
	wanted := &v1.CreateWebhookRequest{Name: "Journey", EndpointUrl: "https://hooks.invalid/journey"}
	made := must(calls.Create(j.ctx, wanted))
	check(strings.HasPrefix(made.GetSigningSecret(), "whsec_"))
	id := made.GetWebhook().GetId()
	changed := must(calls.Update(j.ctx, &v1.UpdateWebhookRequest{
		Id: id, Name: "Renamed", RotateSecret: true, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"rotate_secret"}},
	}))
	check(changed.GetSigningSecret() != made.GetSigningSecret())
	read := must(calls.Get(j.ctx, &v1.GetWebhookRequest{Id: id})).GetWebhook()
	check(read.GetName() == "Journey", read)
	active := must(calls.List(j.ctx, &v1.ListWebhooksRequest{Status: v1.WebhookStatus_WEBHOOK_STATUS_ACTIVE})).GetWebhooks()
	check(slices.ContainsFunc(active, func(each *v1.Webhook) bool { return each.GetId() == id }), active)
	test := must(calls.SendTest(j.ctx, &v1.SendWebhookTestRequest{Id: id})).GetDelivery()
	listed := must(calls.ListDeliveries(j.ctx, &v1.ListWebhookDeliveriesRequest{Id: id})).GetDeliveries()
	check(slices.ContainsFunc(listed, func(each *v1.WebhookDelivery) bool { return each.GetId() == test.GetId() }), listed)
	must(calls.ResendDelivery(j.ctx, &v1.ResendWebhookDeliveryRequest{Id: id, DeliveryId: test.GetId()}))
	messages := must(calls.ListMessages(j.ctx, &v1.ListWebhookMessagesRequest{Since: since})).GetMessages()
	check(len(messages) > 0, messages)
	replay := must(calls.ReplayDeliveries(j.ctx, &v1.ReplayWebhookDeliveriesRequest{Id: id, Since: since})).GetJob()
	until("the replay", func() bool {
		return must(j.Jobs.Get(j.ctx, &v1.GetJobRequest{Id: replay.GetId()})).GetJob().GetWebhookReplay() != nil
	})
	must(calls.Delete(j.ctx, &v1.DeleteWebhookRequest{Id: id}))
}
