// Light or dark: as the system has it, until the reader chooses.

const sheet = document.getElementById('dark');

function use(theme) {
  sheet.media = theme === 'dark' ? 'all' : 'not all';
}

/** Change between light and dark, and keep it so. */
export function changeTheme() {
  const next = matchMedia(sheet.media).matches ? 'light' : 'dark';
  use(next);
  localStorage.setItem('theme', next);
}

const kept = localStorage.getItem('theme');
if (kept) use(kept);
