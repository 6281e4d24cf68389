"""From logs to a policy that acts in a Gymnasium loop: python examples/gymnasium_loop.py"""

import uqf
from uqf.adapters.sb3 import Predictor

world = uqf.make("tiger")
logs = uqf.rollout(world, episodes=200, seed=0)
uqf.fit(logs, discount=world.discount).save("policy.safetensors")

env = uqf.gymnasium_env(world)
predictor = Predictor(uqf.load("policy.safetensors"))
earned = []
for episode in range(100):
    observation, _ = env.reset(seed=episode)
    state, total, done = None, 0.0, False
    while not done:
        action, state = predictor.predict(observation, state)
        observation, reward, terminated, truncated, _ = env.step(action)
        total, done = total + reward, terminated or truncated
    earned.append(total)
print(f"mean return {sum(earned) / len(earned):.1f}, in the logs {logs.returns().mean():.1f}")
