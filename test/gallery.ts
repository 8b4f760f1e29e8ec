import { keepReferences, writePageGallery } from "./pages/gallery.ts";

/*
 * Contact sheets for people to look at: `npm run gallery` writes gallery.html with codes, and gallery-pages.html with
 * hosted pages, of which the folder gallery-pages has the single pictures. With `--pages` it writes only the pages. With `--references` it keeps shots of the built-in themes for
 * `test/pages/looks.test.ts`, once somebody has looked at the pages. Other options are those of `test/qr/gallery.ts`.
 */
const [option] = process.argv.slice(2);
if (option === "--references") await keepReferences();
else {
  if (option === undefined || option === "--pages")
    await writePageGallery("gallery-pages.html", "gallery-pages");
  if (option !== "--pages") await import("./qr/gallery.ts");
}
