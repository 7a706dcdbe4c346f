// A question before something is done that cannot be undone.

const $ = (id) => document.getElementById(id);

/** Whether the reader agrees to `text`, by the button named `verb`. */
export function agreed(text, verb) {
  const dialog = $('confirm');
  $('confirm-text').textContent = text;
  $('confirm-yes').textContent = verb;
  dialog.returnValue = '';
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'), { once: true });
  });
}
