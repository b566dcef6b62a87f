"""Classes of op views by their names, each with the type that its ops have."""


def declare(namespace, base, types):
    """Makes a class for each {class name: op type} in a module's namespace; {op type: class}."""
    made = {}
    for name, op_type in types.items():
        made[op_type] = namespace[name] = type(name, (base,), {"__module__": namespace["__name__"], "__doc__": f"An op of type {op_type}."})
    return made
