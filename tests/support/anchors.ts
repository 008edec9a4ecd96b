/** The fragment of a link that leads to a heading of a page, as GitHub makes it. */
export function anchorOf(heading: string): string {
  return heading.toLowerCase().replaceAll(/[^\w -]/g, "").replaceAll(" ", "-");
}
