import { writePageGallery } from "./pages/gallery.ts";

/*
 * Contact sheets for people to look at: `npm run gallery` writes gallery.html with codes, and gallery-pages.html with
 * hosted pages. With `--pages` it writes only the pages, with any other option only what `test/qr/gallery.ts` says of it.
 */
const [option] = process.argv.slice(2);
if (option === undefined || option === "--pages") await writePageGallery("gallery-pages.html");
if (option !== "--pages") await import("./qr/gallery.ts");
