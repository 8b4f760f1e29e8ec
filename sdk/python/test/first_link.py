"""The example of the READMEs, on the service at SIGNPOST_URL, with SIGNPOST_TOKEN. It leaves no link behind."""

import os

from signpost import Client, SignpostError, items
from signpost.v1.links_service_pb2 import CreateLinkRequest, DeleteLinkRequest, ListLinksRequest

url, token = os.environ["SIGNPOST_URL"], os.environ["SIGNPOST_TOKEN"]

client = Client(url, token)
link = client.links.Create(CreateLinkRequest(destination="https://example.com/menu", name="Menu")).link

for each in items(client.links.List, ListLinksRequest(search="menu"), lambda page: page.links):
    print(each.entrypoint)

request = CreateLinkRequest(destination="https://example.com/menu", shortlink=link.shortlink)
taken: list[str] = []


def choose_another() -> None:
    taken.append(request.shortlink)


try:
    client.links.Create(request)
except SignpostError as error:
    if error.reason != "SHORTLINK_TAKEN":
        raise
    choose_another()

assert taken == [link.shortlink]
client.links.Delete(DeleteLinkRequest(id=link.id))
client.close()
