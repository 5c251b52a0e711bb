/**
 * Copies a text to the clipboard. Browsers offer `navigator.clipboard` only on pages loaded over TLS or from a loopback
 * address. On other pages, the function selects the text in a temporary field and copies the selection.
 */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const box = document.createElement('textarea');
  box.value = text;
  document.body.append(box);
  box.select();
  document.execCommand('copy');
  box.remove();
}
