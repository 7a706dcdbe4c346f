// What can be done to a build: cancel, retry, delete.

import { hasEnded } from './build.js';
import { agreed } from './confirm.js';
import { make } from './make.js';
import { tell } from './service.js';

/** Buttons for what its state allows; `done(answer)` is given the build, null once it is deleted. */
export function actions(build, done, failed) {
  const path = `/api/v1/builds/${encodeURIComponent(build.id)}`;
  const button = (text, kind, act, more = '') => make('button', { type: 'button', class: kind, 'aria-label': `${text} ${build.id}${more}, ${build.materials.join(', ')}`, onclick: (event) => pressed(event.currentTarget, act) }, text, more ? make('small', {}, more) : null);
  const pressed = async (element, act) => {
    if (element.getAttribute('aria-busy')) return;
    element.setAttribute('aria-busy', 'true'); // one that is disabled would lose the focus
    try {
      const answer = await act();
      if (answer !== undefined) done(answer);
    } catch (error) {
      failed(error);
    } finally {
      element.removeAttribute('aria-busy');
    }
  };
  const cancel = button('Cancel', 'quiet', () => tell('POST', `${path}/cancel`));
  const retry = button(build.state === 'interrupted' ? 'Go on' : 'Retry', '', () => tell('POST', `${path}/retry`));
  const remove = button('Delete', 'quiet', async () => {
    const sure = await agreed(`Delete ${build.id} from the history? Its tables stay.`, 'Delete');
    return sure ? tell('DELETE', path) : undefined;
  }, ' (tables stay)');
  if (!hasEnded(build)) return build.state === 'cancelling' ? [] : [cancel];
  return build.state === 'succeeded' ? [remove] : [retry, remove];
}
