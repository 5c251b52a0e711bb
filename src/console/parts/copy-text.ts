/**
 * Copies a text. Browsers offer the clipboard only on pages with TLS or on loopback; elsewhere, the text is selected in
 * a temporary field and copied.
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
