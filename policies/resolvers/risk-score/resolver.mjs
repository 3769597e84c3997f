// `risk.score` (0 to 100) and `risk.reasons`: how unusual a sign-in looks, from what the caller's service knows of it.
//
// Inputs: `user.failed_logins` (a number), `user.new_device` (a boolean), `user.country` (a string). What is left out
// counts as the worst, since a score that is lower the less one knows would be an invitation to say nothing.
//
// Configuration: `home_countries` as `DE,CH`.
import { get } from 'portcullis:resolver/config@1.0.0';
import { emit } from 'portcullis:resolver/log@1.0.0';

const MINUTE_MS = 60_000;

export const resolver = {
  describe() {
    return {
      name: 'risk-score',
      version: '1.0.0',
      inputs: ['user.failed_logins', 'user.new_device', 'user.country'],
      attributes: [
        { name: 'score', kind: 'number', defaultTtlMs: MINUTE_MS },
        { name: 'reasons', kind: 'texts', defaultTtlMs: MINUTE_MS },
      ],
      configKeys: [{ name: 'home_countries', required: true }],
      endpoints: [],
      ext: [],
    };
  },

  resolve(request) {
    const reasons = suspicions(request.user);
    const score = Math.min(100, reasons.reduce((sum, { points }) => sum + points, 0));
    emit('debug', `score ${score}`);
    const values = {
      score: { tag: 'number', val: score },
      reasons: { tag: 'texts', val: reasons.map(({ reason }) => reason) },
    };
    return {
      attributes: request.wanted.map((name) => ({ name, value: values[name] })),
      absent: [],
      ext: [],
    };
  },
};

function suspicions(user) {
  const homes = get('home_countries').split(',').map((country) => country.trim());
  const failures = input(user, 'failed_logins', 'number') ?? Infinity;
  const country = input(user, 'country', 'text');
  return [
    { reason: 'failed logins', points: Math.min(50, failures * 10) },
    { reason: 'new device', points: input(user, 'new_device', 'boolean') === false ? 0 : 30 },
    { reason: 'unusual country', points: homes.includes(country) ? 0 : 40 },
  ].filter(({ points }) => points > 0);
}

// The value of a `user.*` attribute, if there is one of that kind.
function input(user, name, kind) {
  const value = user.find((input) => input.name === name)?.value;
  if (value && value.tag !== kind) {
    // An error of the contract is thrown as its variant: the attributes are undetermined.
    throw { tag: 'invalid', val: `\`user.${name}\` is not a ${kind}` };
  }
  return value?.val;
}
