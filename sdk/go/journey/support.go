package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"log"
	"net/http"
	"net/url"
	"time"

	"signpost.example/signpost"
)

// A PNG of one pixel.
const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"

var browser = http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// must answers what a call answers, and ends the program when it fails.
func must[Answer any](answer Answer, err error) Answer {
	if err != nil {
		log.Panic(err)
	}
	return answer
}

// check ends the program with what it has met when a claim does not hold.
func check(holds bool, met ...any) {
	if !holds {
		log.Panic("unexpected: ", fmt.Sprint(met...))
	}
}

// all lists what the pages of a list hold.
func all[Item any](items iter.Seq2[Item, error]) []Item {
	var list []Item
	for item, err := range items {
		list = append(list, must(item, err))
	}
	return list
}

// reasonOf tells for which reason a call is refused; empty when it is not.
func reasonOf[Answer any](_ Answer, err error) string {
	var refused *signpost.Error
	if errors.As(err, &refused) {
		return refused.Reason
	}
	return ""
}

// until waits until a claim holds; it ends the program after 30 seconds.
func until(what string, holds func() bool) {
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(100 * time.Millisecond) {
		check(time.Now().Before(end), what, " has not come to be")
	}
}

// follow tells where a short link leads a browser.
func follow(address string) *url.URL {
	request := must(http.NewRequest(http.MethodGet, address, nil))
	request.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
	request.Header.Set("Accept", "text/html")
	answer := must(browser.Do(request))
	defer answer.Body.Close()
	check(answer.StatusCode == http.StatusFound, address, answer.Status)
	return must(answer.Location())
}

func pictureBytes() []byte {
	return must(base64.StdEncoding.DecodeString(picture))
}
