"""From random play to a policy that acts in a Gymnasium loop: python examples/gymnasium_loop.py"""

import gymnasium

import uqf

world = uqf.GymnasiumWorld("CartPole-v1", horizon=200)
logs = uqf.rollout(world, episodes=300, seed=0)
uqf.fit(logs).save("policy.safetensors")

agent, env, earned = uqf.Agent("policy.safetensors"), gymnasium.make("CartPole-v1", max_episode_steps=200), []
for episode in range(20):
    observation, _ = env.reset(seed=episode)
    agent.reset(observation)
    total, over = 0.0, False
    while not over:
        observation, reward, terminated, truncated, _ = env.step(agent.act())
        agent.observe(observation)
        total, over = total + reward, terminated or truncated
    earned.append(total)
print(f"mean return {sum(earned) / len(earned):.1f}, in the logs {logs.returns().mean():.1f}")
