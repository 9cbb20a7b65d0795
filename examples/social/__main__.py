"""`python -m examples.social`: poll a social service and say what the friends of id1 have been visiting."""

from __future__ import annotations

import argparse

from examples.social.listen import FRIENDS, TOPICS, declare, listen, local
from examples.social.posts import posts
from examples.social.service import service
from penstock import Answer, Engine


def main() -> None:
    given = _asked()
    made = posts(given.posts, given.users, given.seed)
    with service(made) as server, Engine() as engine:
        declare(engine, server.url, given.users, given.format)
        print(f"Polling {server.url} as {given.format.upper()}: {len(made)} posts of {given.users - 1} users.")
        engine.start()
        for answer in listen(engine, FRIENDS, made):
            print(_friends(answer))
        print(_topics(list(listen(engine, TOPICS, made))[-1]))
        print(f"{server.requests} requests, every post once.")


def _friends(answer: Answer) -> str:
    visited = sorted((local(row["friend"].value), local(row["topic"].value)) for row in answer.rows)
    by_friend = {friend: [topic for one, topic in visited if one == friend] for friend, _ in visited}
    said = "; ".join(f"{friend}: {', '.join(topics)}" for friend, topics in by_friend.items())
    return f"{answer.time:%H:%M}  {said or 'nobody has visited anything'}"


def _topics(answer: Answer) -> str:
    counted = sorted(answer.rows, key=lambda row: -int(row["number"].value))
    said = ", ".join(f"{local(row['topic'].value)} {row['number'].value}" for row in counted)
    return f"Topics of the half hour before {answer.time:%H:%M}: {said}"


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m examples.social", description=__doc__)
    parser.add_argument("--format", choices=("json", "xml"), default="json", help="how the service writes its posts")
    parser.add_argument("--posts", type=int, default=300, help="how many there will be")
    parser.add_argument("--users", type=int, default=10, help="how many users there are")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other posts")
    return parser.parse_args()


if __name__ == "__main__":
    main()
