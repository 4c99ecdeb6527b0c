"""What Gemini CLI reads and writes in these tests.

    client.py settings [--no-env] <DEFINITION   settings.json: the printed hook definition, with what the tests need
    client.py model CALL... [then CALL...]...   the model's answers: a turn with these calls, then one with those, at last
                                                "done"; CALL is the JSON of run_shell_command's arguments
    client.py responses TRANSCRIPT...           what the model was told about each call, one JSON object a line
    client.py field EXPRESSION <JSON            the Python expression's value, where v is the JSON value
"""
import json
import sys

QUIET = {"general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
         "privacy": {"usageStatisticsEnabled": False}}


def settings(definition, keep_env):
    hooks = json.loads(definition)["hooks"]
    for entries in hooks.values():
        for entry in entries:
            for hook in entry["hooks"]:
                if not keep_env:
                    del hook["env"]
    return {**QUIET, "security": {"auth": {"selectedType": "gemini-api-key"}, "toolSandboxing": True}, "hooks": hooks}


def answer(parts):
    return {"method": "generateContentStream",
            "response": [{"candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": "STOP", "index": 0}],
                          "usageMetadata": {"totalTokenCount": 15}}]}


def model(words):
    turns = [[]]
    for word in words:
        if word == "then":
            turns.append([])
        else:
            turns[-1].append({"functionCall": {"name": "run_shell_command", "args": json.loads(word)}})
    for parts in turns:
        yield answer(parts)
    yield answer([{"text": "done"}])


def responses(paths):
    for path in paths:
        with open(path, encoding="utf-8") as f:
            for line in f:
                message = json.loads(line)
                if message.get("type") != "user":
                    continue
                for part in message["content"]:
                    if "functionResponse" in part:
                        yield part["functionResponse"]["response"]


def main(command, *arguments):
    if command == "settings":
        json.dump(settings(sys.stdin.read(), "--no-env" not in arguments), sys.stdout, indent=1)
    elif command == "field":
        print(eval(arguments[0], {"v": json.load(sys.stdin)}))
    else:
        for value in {"model": model, "responses": responses}[command](arguments):
            print(json.dumps(value))


main(*sys.argv[1:])
