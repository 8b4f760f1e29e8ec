/**
 * The layout of hosted pages, in parts; each page has the parts it needs. Colors and typefaces are custom properties,
 * which `look.ts` makes from a theme. Sides are logical, so that the layout also works from right to left.
 */
const base = `
*,::before,::after{box-sizing:border-box}
html{background:var(--ground);-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{position:relative;isolation:isolate;margin:0;min-height:100vh;min-height:100dvh;display:grid;
 grid-template-columns:minmax(0,27rem);justify-content:center;align-content:safe center;
 padding:2rem max(1.25rem,env(safe-area-inset-right)) 2.5rem max(1.25rem,env(safe-area-inset-left));
 background:var(--canvas);color:var(--ink);font:var(--body-font);overflow-wrap:anywhere}
main{display:grid;grid-template-columns:minmax(0,1fr);gap:1.5rem;justify-items:center;text-align:center;
 background:var(--box);border:var(--box-line);border-radius:var(--box-radius);padding:var(--box-padding)}
main>*{width:100%}
.badge,.mark{display:grid;place-items:center;margin:0 auto;overflow:hidden}
.mark{width:4rem;height:4rem;border-radius:calc(var(--round)*4);color:var(--on-tint);background:var(--tint);font:var(--title-font);font-size:1.375rem;line-height:1}
.mark .i{width:1.75rem;height:1.75rem}
header{display:grid;gap:.625rem;justify-items:inherit}
h1{margin:0;font:var(--title-font);color:var(--title);letter-spacing:-.011em;text-wrap:balance}
:lang(ar) h1,:lang(fa) h1,:lang(ur) h1,:lang(hi) h1{letter-spacing:0;line-height:1.4}
p{margin:0}
.lead{color:var(--quiet);white-space:pre-line;text-wrap:balance}
form,.stack,fieldset{display:grid;grid-template-columns:minmax(0,1fr);gap:.75rem}
.i{width:1.375em;height:1.375em;flex:none;fill:none;stroke:currentColor;stroke-width:1.75;stroke-linecap:round;stroke-linejoin:round}
.turn{display:grid}
[dir=rtl] .turn{transform:scaleX(-1)}
.button{display:flex;align-items:center;justify-content:center;gap:.625rem;width:100%;min-height:3.25rem;padding:.75rem 1.25rem;
 border:1px solid var(--element-line);border-radius:var(--round);background:var(--element);background-origin:border-box;
 color:var(--on-element);font:var(--element-font);font-weight:var(--element-weight);text-align:center;text-decoration:none;cursor:pointer;
 transition:box-shadow .15s,transform .15s}
.button:hover{box-shadow:0 .125rem .5rem #0004}
.button:active{transform:scale(.985)}
.plain{background:var(--field);border-color:var(--edge);color:var(--field-ink)}
.plain:hover{border-color:var(--line);box-shadow:none}
.bare{background:none;border-color:#0000;color:var(--ink)}
.bare:hover{text-decoration:underline;box-shadow:none}
.between{justify-content:flex-start;text-align:start}
.between>:nth-child(2){flex:1;min-width:0}
.turn .i{width:1.125em;height:1.125em}
.icons{display:flex;flex-wrap:wrap;justify-content:center;gap:.75rem .5rem;max-width:22rem;margin-inline:auto}
.icons .button{width:3.25rem;height:3.25rem;padding:0;border-radius:calc(var(--round)*4)}
.icons .i{width:1.625em;height:1.625em}
:focus-visible{outline:3px solid var(--accent);outline-offset:3px}
.quiet,.help{color:var(--quiet);font-weight:400;font-size:.9375em}
.fault{display:flex;gap:.5rem;align-items:start;color:var(--fault);font-size:.9375em;font-weight:500;text-align:start}
.fault::before{content:"!"/"";flex:none;display:grid;place-items:center;width:1.25em;height:1.25em;margin-top:.225em;
 border:1.5px solid;border-radius:50%;font-size:.9em;font-weight:700;line-height:1}
.alert{padding:.875rem 1rem;border:1px solid;border-radius:var(--round);font-size:1em;font-weight:600}
.hide{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
@keyframes rise{from{transform:translateY(.5rem)}}
@media(min-width:40rem){body{padding-block:4rem}}
@media(prefers-reduced-motion:no-preference){main{animation:rise .35s ease-out}}
@media(prefers-reduced-motion:reduce){*{transition:none!important}}
`;

/** Fields of forms, with what is wrong with them. */
const controls = `
.form main{text-align:start;justify-items:start}
.form .lead{text-wrap:pretty}
.form .badge,.form .mark{margin-inline-start:0}
form.answers{gap:1.375rem;text-align:start}
.field{display:grid;grid-template-columns:minmax(0,1fr);gap:.4375rem;min-width:0;margin:0;padding:0;border:0}
label,legend{padding:0;font-weight:600}
legend{margin-bottom:.4375rem}
.help{white-space:pre-line}
input,select,textarea{width:100%;min-height:3.125rem;margin:0;padding:.6875rem .9375rem;border:1px solid var(--line);border-radius:var(--round);
 background:var(--field);color:var(--field-ink);font:var(--element-font);font-size:max(1rem,var(--element-size));-webkit-appearance:none;appearance:none}
[dir=rtl] input{text-align:right}
textarea{min-height:7.5rem;resize:vertical;field-sizing:content}
input::placeholder,textarea::placeholder{color:var(--field-quiet);opacity:1}
input:focus,select:focus,textarea:focus{outline:2px solid var(--accent);outline-offset:-1px;border-color:var(--accent)}
.select{position:relative}
.select::after{content:"";position:absolute;inset-inline-end:1.125rem;top:50%;width:.5rem;height:.5rem;margin-top:-.375rem;
 border:solid var(--field-ink);border-width:0 2px 2px 0;rotate:45deg;pointer-events:none}
select{padding-inline-end:2.75rem;text-overflow:ellipsis}
.choice{display:flex;align-items:center;gap:.75rem;min-height:3.125rem;padding:.6875rem .9375rem;border:1px solid var(--line);border-radius:var(--round);
 background:var(--field);color:var(--field-ink);font:var(--element-font);cursor:pointer}
.choice span{flex:1;min-width:0}
.choice input{position:relative;flex:none;width:1.375rem;height:1.375rem;min-height:0;padding:0;border:2px solid var(--line);border-radius:50%}
.choice input:focus,.stars input:focus{outline:0}
.choice [type=checkbox]{border-radius:calc(var(--round)/2)}
.choice input:checked{border-color:var(--accent);background:var(--accent);box-shadow:inset 0 0 0 .25rem var(--field)}
.choice [type=checkbox]:checked{box-shadow:none}
.choice [type=checkbox]:checked::after{content:"";position:absolute;inset-inline-start:.3125rem;top:.0625rem;width:.4375rem;height:.75rem;
 border:solid var(--on-accent);border-width:0 2.5px 2.5px 0;rotate:45deg}
.choice:has(:checked){border-color:var(--accent);box-shadow:inset 0 0 0 1px var(--accent)}
.choice:has(:focus-visible),.stars label:has(:focus-visible){outline:3px solid var(--accent);outline-offset:2px}
.stars{display:flex;gap:.125rem;margin-inline-start:-.5rem}
.stars label{position:relative;display:grid;place-items:center;width:3.25rem;height:3.25rem;border-radius:var(--round);color:var(--line);cursor:pointer}
.stars input{position:absolute;inset:0;width:100%;height:100%;min-height:0;margin:0;opacity:0;cursor:pointer}
.stars .i{width:2.25rem;height:2.25rem}
.stars input:checked+.i,.stars label:has(~label :checked) .i{color:var(--accent);fill:currentColor}
[aria-invalid=true],.field:has(.fault) .choice{border-color:var(--fault);box-shadow:none}
.field:has(.fault) .stars label{color:var(--fault)}
@media(forced-colors:active){.choice input:checked{background:Highlight}}
`;

/** A cover image. One that fades has ended where the content begins, so that the content lies on the canvas alone. */
const cover = `
.cover{position:fixed;z-index:-1;inset:0;height:100vh;height:100lvh}
.cover picture{display:contents}
.cover img{display:block;width:100%;height:100%;object-fit:cover}
.top .cover{position:absolute;height:min(46vh,26rem);-webkit-mask:linear-gradient(#000 40%,#0000 80%);mask:linear-gradient(#000 40%,#0000 80%)}
.bottom .cover{position:absolute;top:auto;height:min(46vh,26rem);-webkit-mask:linear-gradient(#0000 16%,#000 60%);mask:linear-gradient(#0000 16%,#000 60%)}
.top .badge{box-shadow:0 0 0 .25rem var(--ground)}
.top{align-content:start;padding-top:min(38vh,21rem)}
.bottom{padding-bottom:min(40vh,22rem)}
@media(min-width:40rem){.top{padding-top:min(40vh,24rem)}}
`;

const badge = `
.badge{width:5.5rem;height:5.5rem;border-radius:var(--badge-radius);color:var(--badge-ink);background:var(--tint)}
.badge img{width:100%;height:100%;object-fit:cover}
.badge .i{width:2.75rem;height:2.75rem}
`;

/** The lines of a contact card. */
const card = `
.card .mark{width:6rem;height:6rem;font-size:2rem}
.lines{margin:0;padding:0;list-style:none;text-align:start;border:1px solid var(--edge);border-radius:var(--round);background:var(--field);color:var(--field-ink)}
.lines li+li{border-top:1px solid var(--edge)}
.line{display:flex;align-items:center;gap:1rem;min-height:3.75rem;padding:.625rem 1.125rem;color:inherit;text-decoration:none}
a.line:hover{text-decoration:underline}
.line .i{color:var(--accent)}
.line small{display:block;color:var(--field-quiet);font-size:.8125em}
`;

/** The time that is left on a page that moves on by itself. */
const timer = `
.time{height:.375rem;border-radius:var(--round);background:var(--edge);overflow:hidden}
.time::before{content:"";display:block;height:100%;border-radius:inherit;background:var(--accent);transform-origin:left;animation:pass var(--seconds) linear both}
[dir=rtl] .time::before{transform-origin:right}
.late{animation:late var(--seconds) step-end both}
@keyframes pass{from{transform:scaleX(0)}}
@keyframes late{from{visibility:hidden}}
@media(prefers-reduced-motion:reduce){.time::before{animation-timing-function:steps(10)}}
@media(forced-colors:active){.time::before{background:Highlight}}
`;

/** The line that names the service. */
const brand = `
.brand{display:grid;place-items:center;min-height:2.75rem;margin-bottom:-.875rem;color:var(--quiet);font-size:.8125em;text-decoration:none}
.brand:hover{text-decoration:underline}
`;

/** Parts of the style, as they are sent. */
export const sheets = {
  base: asSent(base),
  controls: asSent(controls),
  cover: asSent(cover),
  badge: asSent(badge),
  card: asSent(card),
  timer: asSent(timer),
  brand: asSent(brand),
};

/** What a page may need beside the base. */
export type Sheet = Exclude<keyof typeof sheets, "base">;

function asSent(rules: string): string {
  return rules.trim().replace(/\n\s*/g, "");
}
