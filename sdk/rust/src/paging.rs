use std::vec;

use tonic::{Response, Status};

use crate::{SignpostError, v1};

/// The request of a paged list call.
pub trait PageRequest: Clone {
    /// Asks for the page of a token.
    fn set_page_token(&mut self, token: String);
}

/// The answer of a list call: one page.
pub trait Page {
    /// The type of the list's elements.
    type Item;
    /// The items, and the token of the next page; the token is empty on the last page.
    fn into_parts(self) -> (Vec<Self::Item>, String);
}

/// Iterates over all items of a list call, and requests a page when the previous one is used up. The request gives the
/// start, the page size and the filters.
///
/// ```text
/// let mut all = items(ListLinksRequest::default(), async |request| links.list(request).await);
/// while let Some(link) = all.next().await? { … }
/// ```
pub fn items<Q, P, F>(request: Q, list: F) -> Items<Q, P, F>
where
    Q: PageRequest,
    P: Page,
    F: AsyncFnMut(Q) -> Result<Response<P>, Status>,
{
    Items { request: Some(request), list, page: Vec::new().into_iter() }
}

/// The items of a list, page after page.
pub struct Items<Q, P: Page, F> {
    /// The next request; none after the last page.
    request: Option<Q>,
    list: F,
    page: vec::IntoIter<P::Item>,
}

impl<Q, P, F> Items<Q, P, F>
where
    Q: PageRequest,
    P: Page,
    F: AsyncFnMut(Q) -> Result<Response<P>, Status>,
{
    /// The next item; none after the last. After an error it requests the same page again.
    pub async fn next(&mut self) -> Result<Option<P::Item>, SignpostError> {
        loop {
            if let Some(item) = self.page.next() {
                return Ok(Some(item));
            }
            let Some(request) = &mut self.request else {
                return Ok(None);
            };
            let (items, token) = (self.list)(request.clone()).await?.into_inner().into_parts();
            self.page = items.into_iter();
            if token.is_empty() {
                self.request = None;
            } else {
                request.set_page_token(token);
            }
        }
    }
}

include!(concat!(env!("OUT_DIR"), "/pages.rs"));

#[cfg(test)]
mod tests {
    use super::*;
    use v1::{Event, ListEventsJsonResponse, ListEventsRequest, ListEventsResponse};

    #[tokio::test]
    async fn goes_through_empty_and_nested_pages_to_the_last() {
        let page = |ids: &[&str], token: &str| ListEventsResponse {
            json: Some(ListEventsJsonResponse {
                events: ids.iter().map(|id| Event { id: (*id).into(), ..Event::default() }).collect(),
                next_page_token: token.into(),
                ..ListEventsJsonResponse::default()
            }),
            csv: None,
        };
        let mut asked = Vec::new();
        let mut events = items(ListEventsRequest::default(), async |request: ListEventsRequest| {
            asked.push(request.page_token.clone());
            Ok(Response::new(match request.page_token.as_str() {
                "" => page(&["a", "b"], "2"),
                "2" => page(&[], "3"),
                _ => page(&["c"], ""),
            }))
        });
        let mut ids = Vec::new();
        while let Some(event) = events.next().await.unwrap() {
            ids.push(event.id);
        }
        assert_eq!(ids, ["a", "b", "c"]);
        assert_eq!(asked, ["", "2", "3"]);
    }

    #[tokio::test]
    async fn asks_for_the_page_again_that_failed() {
        let mut calls = 0;
        let mut events = items(ListEventsRequest::default(), async |_: ListEventsRequest| {
            calls += 1;
            match calls {
                1 => Err(Status::unavailable("away")),
                _ => Ok(Response::new(ListEventsResponse::default())),
            }
        });
        assert!(events.next().await.is_err());
        assert!(events.next().await.unwrap().is_none());
    }
}
